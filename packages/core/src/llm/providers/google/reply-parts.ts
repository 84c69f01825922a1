import type { LanguageModelV3StreamPart, SharedV3ProviderOptions } from "@ai-sdk/provider";
import { isJsonObject, jsonText } from "../../json-value.ts";
import type { Fidelity } from "../../segment-fidelity.ts";
import { legalName } from "../legal-names.ts";
import { unmarked } from "../provider.ts";
import { readableError } from "./error-answer.ts";
import { NO_TEXT } from "./written-body.ts";

/** A part of a reply in the form in which the package loses nothing of it. */
export interface ReplyPart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: object;
  readonly inlineData?: object;
}

/**
 * A part as it came. One that says nothing and has no signature is left out, and so are those of tools that run at the
 * service: they are never asked for. Arguments become text, which the package takes whatever the names in them are.
 */
export function readPart(part: Readonly<Record<string, unknown>>): ReplyPart[] {
  const { functionCall, inlineData, text, thought, thoughtSignature } = part;
  const signed = typeof thoughtSignature === "string" && thoughtSignature !== "" ? { thoughtSignature } : {};
  if (isJsonObject(functionCall)) return [{ functionCall: readCall(functionCall), ...signed }];
  const rest = { ...(thought === true && { thought }), ...signed };
  if (isJsonObject(inlineData)) {
    const { mimeType, data } = inlineData;
    return typeof mimeType === "string" && typeof data === "string"
      ? [{ inlineData: { mimeType, data }, ...rest }]
      : [];
  }
  if (typeof text === "string" && text !== "") return [{ text, ...rest }];
  return "thoughtSignature" in rest ? [{ text: NO_TEXT, ...rest }] : [];
}

/** A piece of streamed arguments that the package would pass over in silence, with the call. */
export function isUnreadable({ functionCall }: Readonly<Record<string, unknown>>): boolean {
  const pieces = isJsonObject(functionCall) ? functionCall.partialArgs : undefined;
  if (pieces === undefined || pieces === null) return false;
  return !Array.isArray(pieces) || !pieces.every(isPiece);
}

/** The same with neighbouring texts of one kind as one, up to a signature. */
export function joinParts(parts: readonly (ReplyPart | string)[]): (ReplyPart | string)[] {
  const joined: (ReplyPart | string)[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === "object" && typeof last === "object" && continues(last, part)) {
      joined[joined.length - 1] = { ...last, ...part, text: `${last.text}${part.text}` };
    } else joined.push(part);
  }
  return joined;
}

/**
 * A part of the package's stream: the text of nothing as nothing, a signature only on what it came with, on a call the id,
 * if the service gave it one, and on a signed call whether it came without arguments, and its name where that cannot go back.
 */
export function completePart(part: LanguageModelV3StreamPart): LanguageModelV3StreamPart {
  switch (part.type) {
    case "text-start":
    case "reasoning-start": {
      // The same signature comes with the first piece.
      const { providerMetadata: _, ...start } = part;
      return start;
    }
    case "text-delta":
    case "reasoning-delta":
      return part.delta === NO_TEXT ? { ...part, delta: "" } : part;
    case "tool-call":
      return completeCall(part);
    case "error":
      return { ...part, error: readableError(part.error) };
    default:
      return part;
  }
}

type CallPart = Extract<LanguageModelV3StreamPart, { type: "tool-call" }>;

function completeCall(part: CallPart): CallPart {
  const own = part.providerMetadata?.[OWN];
  const callId = unmarked(part.toolCallId);
  const name = unmarked(part.toolName);
  const signed = own?.thoughtSignature !== undefined && {
    ...(/^\s*(\{\s*\}\s*)?$/.test(part.input) && { noArguments: true }),
    ...(callName(name) !== name && { calledName: name }),
  };
  const fields = { ...own, ...(callId !== "" && { callId }), ...signed };
  return Object.keys(fields).length === 0 ? part : { ...part, providerMetadata: { [OWN]: fields } };
}

/** A name that the service takes in a call and for a tool. */
export function callName(name: string): string {
  return legalName(name, /^[A-Za-z_]/);
}

/** What of fidelity this protocol gave out. */
export function ownFidelity({ [OWN]: own }: Fidelity): SharedV3ProviderOptions | undefined {
  const { thoughtSignature, callId, thought, noArguments, calledName } = own ?? {};
  const fields = {
    ...(typeof thoughtSignature === "string" && { thoughtSignature }),
    ...(typeof callId === "string" && { callId }),
    ...(thought === true && { thought }),
    ...(noArguments === true && { noArguments }),
    ...(typeof calledName === "string" && { calledName }),
  };
  return Object.keys(fields).length > 0 ? { [OWN]: fields } : undefined;
}

/** The name of this protocol in fidelity, which is that of the package. */
export const OWN = "google";

function continues(last: ReplyPart, { text, thought }: ReplyPart): boolean {
  if (last.text === undefined || last.thoughtSignature !== undefined || last.thought !== thought) return false;
  return text !== undefined && text !== NO_TEXT;
}

/** Pieces of arguments that are streamed pass as they are: a later one has neither name nor arguments. */
function readCall({ id, name, args, partialArgs, willContinue }: Readonly<Record<string, unknown>>): object {
  const whole =
    args === undefined || args === null ? undefined : typeof args === "string" ? args : (jsonText(args) ?? TOO_DEEP);
  const called = typeof name === "string" ? name : whole === undefined ? undefined : "";
  return {
    ...(typeof id === "string" && id !== "" && { id }),
    ...(called !== undefined && { name: called }),
    ...(whole !== undefined && { args: whole }),
    ...(Array.isArray(partialArgs) && { partialArgs }),
    ...(typeof willContinue === "boolean" && { willContinue }),
  };
}

function isPiece(piece: unknown): boolean {
  if (!isJsonObject(piece) || typeof piece.jsonPath !== "string") return false;
  return Object.entries(PIECE_TYPES).every(([name, type]) =>
    [type, "undefined"].includes(typeof (piece[name] ?? undefined)),
  );
}

const PIECE_TYPES = { stringValue: "string", numberValue: "number", boolValue: "boolean", willContinue: "boolean" };

/** No JSON, so that the call is answered and not run. */
const TOO_DEEP = "[arguments nested too deeply to be written as text]";
