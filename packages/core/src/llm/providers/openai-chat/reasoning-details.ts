import type {
  JSONObject,
  LanguageModelV3Prompt,
  LanguageModelV3StreamPart,
  SharedV3ProviderOptions,
} from "@ai-sdk/provider";
import { isJsonObject } from "../../json-value.ts";
import type { Fidelity } from "../../segment-fidelity.ts";
import { isDeeperThan } from "../call-input.ts";
import { OWN } from "./late-signatures.ts";

/**
 * The `reasoning_details` of one reply: what gateways such as OpenRouter give out of the reasoning of the models behind them,
 * signed or encrypted, and want back unchanged with the reply. The package passes over them.
 *
 * Each part that ends a piece of the reply takes those that came before it: thinking, text in front of any call, and the
 * reply's first call, which ends behind everything else.
 */
export class ReasoningDetails {
  readonly #source: string;
  #untaken: JSONObject[] = [];
  #hasCalls = false;

  /** @param source - Who gives them out; they go back to nobody else. */
  constructor(source: string) {
    this.#source = source;
  }

  /** A chunk of the reply, before its parts. */
  note(chunk: unknown): void {
    const choice = isJsonObject(chunk) && Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    const delta = isJsonObject(choice) ? choice.delta : undefined;
    const details = isJsonObject(delta) ? delta.reasoning_details : undefined;
    if (Array.isArray(details)) this.#untaken.push(...details.filter(isDetail).filter(isWritable));
  }

  /** A part of the package's stream, with what it takes. */
  complete(part: LanguageModelV3StreamPart): LanguageModelV3StreamPart {
    if (part.type === "tool-input-start") this.#hasCalls = true;
    const takes =
      part.type === "reasoning-end" || part.type === "tool-call" || (part.type === "text-end" && !this.#hasCalls);
    if (!takes || this.#untaken.length === 0) return part;
    const fields = { reasoningDetails: joined(this.#untaken), source: this.#source };
    this.#untaken = [];
    return { ...part, providerMetadata: { [OWN]: { ...part.providerMetadata?.[OWN], ...fields } } };
  }
}

/** The details in fidelity, where this source gave them out. */
export function detailOptions({ [OWN]: own }: Fidelity, source: string): SharedV3ProviderOptions | undefined {
  const details = own?.source === source && Array.isArray(own.reasoningDetails) ? own.reasoningDetails : [];
  const reasoningDetails = details.filter(isDetail);
  return reasoningDetails.length > 0 ? { [OWN]: { reasoningDetails } } : undefined;
}

/** A prompt whose replies have their details; thinking goes back no other way then. */
export function withReasoningDetails(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  return prompt.map((message) => {
    if (message.role !== "assistant") return message;
    const details = message.content.flatMap(({ providerOptions }) => {
      const sent = providerOptions?.[OWN]?.reasoningDetails;
      return Array.isArray(sent) ? sent.filter(isDetail) : [];
    });
    if (details.length === 0) return message;
    const fields = { reasoning_details: joined(details), reasoning_content: undefined };
    return { ...message, providerOptions: { openaiCompatible: fields } };
  });
}

/** Details with the pieces of each put together, in the order in which they began. */
function joined(pieces: readonly JSONObject[]): JSONObject[] {
  const details: JSONObject[] = [];
  for (const piece of pieces) {
    const at = details.findLastIndex((detail, i) => continues(detail, piece, i === details.length - 1));
    const before = details[at];
    if (before) details[at] = extended(before, piece);
    else details.push(piece);
  }
  return details;
}

/** Text and summaries come in pieces; anything else is whole, and may come again. */
function continues(detail: JSONObject, piece: JSONObject, isLast: boolean): boolean {
  if (detail.type !== piece.type || detail.index !== piece.index) return false;
  if (detail.id && piece.id && detail.id !== piece.id) return false;
  const field = TEXTS.get(piece.type);
  if (field === undefined) return piece.data !== undefined && detail.data === piece.data;
  return (isLast || typeof piece.index === "number") && !(detail.signature && piece[field]);
}

function extended(detail: JSONObject, piece: JSONObject): JSONObject {
  const news = Object.entries(piece).filter(([, value]) => value !== null && value !== undefined);
  const field = TEXTS.get(piece.type);
  const texts = field === undefined ? [] : [detail[field], piece[field]].filter((text) => typeof text === "string");
  return {
    ...detail,
    ...Object.fromEntries(news),
    ...(field !== undefined && texts.length > 0 && { [field]: texts.join("") }),
  };
}

const TEXTS: ReadonlyMap<unknown, string> = new Map([
  ["reasoning.text", "text"],
  ["reasoning.summary", "summary"],
]);

/** One that is nested too deeply could not be recorded. */
function isWritable(detail: JSONObject): boolean {
  return !isDeeperThan(MAX_LEVELS, detail);
}

const MAX_LEVELS = 100;

function isDetail(value: unknown): value is JSONObject {
  return isJsonObject(value);
}
