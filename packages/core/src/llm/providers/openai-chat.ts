import { createHash } from "node:crypto";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { readBaseUrl } from "../base-url.ts";
import type { ThinkingLevelName } from "../contract.ts";
import { isJsonObject, jsonText, parseJson } from "../json-value.ts";
import type { ProviderFailure } from "../provider-failure.ts";
import { joinDeltas } from "./openai-chat/join-deltas.ts";
import { LateSignatures, OWN, signatureOptions } from "./openai-chat/late-signatures.ts";
import { mendEvents } from "./openai-chat/mend-events.ts";
import { toolMessages } from "./openai-chat/tool-messages.ts";
import type { OpenProvider, PromptDialect } from "./provider.ts";
import { providerFetch } from "./provider-fetch.ts";

/**
 * OpenAI Chat Completions and the servers that are compatible with it (PC-106).
 *
 * The address is what OpenAI's SDK takes, with `/v1`; its query is kept. OpenAI's own models are known by their names:
 * only the reasoning ones are told how hard to think, and they get `max_completion_tokens`; none of them is sent
 * `reasoning_content`, which other servers get back with the reply it came in.
 */
export const openOpenaiChat: OpenProvider = async ({ modelId, baseUrl = OPENAI_URL, onBytes, fetch }) => {
  const traits = traitsOf(modelId);
  const { address, query } = readAddress(baseUrl);
  let signatures = new LateSignatures();
  const provider = createOpenAICompatible({
    name: OWN,
    baseURL: address,
    ...(query && { queryParams: query }),
    includeUsage: true,
    fetch: providerFetch(fetch, (body) => {
      signatures = new LateSignatures();
      return mendEvents(body, { onBytes, onToolCalls: (pieces) => signatures.note(pieces), rewrite: joinDeltas });
    }),
    ...(traits.reasoning && { transformRequestBody: withCompletionLimit }),
  });
  return {
    model: provider.chatModel(modelId),
    completePart: (part) => signatures.complete(part),
    dialect: dialect(traits),
    authHeaders: (apiKey) => (apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    callOptions: ({ thinkingLevel, maxTokens }) => {
      const reasoningEffort = effort(thinkingLevel, traits);
      return {
        ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
        ...(reasoningEffort && { providerOptions: { openaiCompatible: { reasoningEffort } } }),
      };
    },
    isOverflow,
    isHarmless,
  };
};

const OPENAI_URL = "https://api.openai.com/v1";

interface Traits {
  /** One of OpenAI's own models. */
  readonly openai: boolean;
  /** One of those that reason. */
  readonly reasoning: boolean;
  /** Takes the effort `xhigh`. */
  readonly xhigh: boolean;
}

/** Reads a model's name, without the vendor that gateways put before it; `gpt-oss` runs on other servers. */
function traitsOf(modelId: string): Traits {
  const name = modelId.toLowerCase().replace(/^.*\//, "");
  return {
    openai: /^(gpt-(?!oss)|o\d|codex|chatgpt)/.test(name),
    reasoning: /^(o\d|gpt-([5-9]|\d\d)|codex)/.test(name) && !name.includes("chat-latest"),
    xhigh: /^gpt-(5\.([2-9]|\d\d)|[6-9]|\d\d)|codex-max/.test(name),
  };
}

function effort(level: ThinkingLevelName | undefined, traits: Traits): string | undefined {
  if (level === undefined || level === "none" || (traits.openai && !traits.reasoning)) return undefined;
  return level === "xhigh" && !traits.xhigh ? "high" : level;
}

/** The address without slashes at its end, and its query apart. */
function readAddress(baseUrl: string): { address: string; query: Record<string, string> | undefined } {
  const url = readBaseUrl(baseUrl);
  const query = url.search ? Object.fromEntries(url.searchParams) : undefined;
  return { address: `${url.origin}${url.pathname}`.replace(/\/+$/, ""), query };
}

function withCompletionLimit({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> {
  return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
}

function dialect(traits: Traits): PromptDialect {
  return {
    keepsThinking: () => !traits.openai,
    fidelity: signatureOptions,
    callId: (id) => (id.length <= MAX_CALL_ID_CHARACTERS ? id : `call_${digest(id)}`),
    callName,
    callInput,
    toolMessages,
  };
}

const MAX_CALL_ID_CHARACTERS = 40;
const MAX_NAME_CHARACTERS = 64;

/** A name the protocol does not take is told from others that would look like it by a digest at its end. */
function callName(name: string): string {
  if (/^[\w-]+$/.test(name) && name.length <= MAX_NAME_CHARACTERS) return name;
  const mark = `_${digest(name).slice(0, 8)}`;
  return name.replace(/[^\w-]/g, "_").slice(0, MAX_NAME_CHARACTERS - mark.length) + mark;
}

/**
 * The package sends a text verbatim, except where keys in it look like an attack on prototypes: then it quotes it again,
 * and has to be given the value. One that is too deep for that goes back as an empty object.
 */
function callInput(text: string): unknown {
  if (!/proto|\\u/.test(text)) return text;
  const value = parseJson(text);
  const written = jsonText(value);
  if (written === undefined) return text.includes("\\u") || SUSPECT_KEYS.test(text) ? "{}" : text;
  return SUSPECT_KEYS.test(written) ? value : text;
}

const SUSPECT_KEYS = /"(__proto__|prototype)"\s*:/;

function digest(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 32);
}

/** OpenAI's code, and the words of compatible servers; a rate limit may speak of tokens too and is none. */
function isOverflow({ status, types, words }: ProviderFailure): boolean {
  if (status === 429) return false;
  return types.some((type) => OVERFLOW_TYPES.test(type)) || OVERFLOW_WORDS.test(words);
}

const OVERFLOW_TYPES = /context_length_exceeded|exceed_context_size|context_window|^tokens_limit_reached$/;
const OVERFLOW_WORDS = new RegExp(
  [
    /maximum context length/,
    /context (length|window|size)[^.;]{0,100}(?<!\bnot )\bexceed/,
    /(?<!\bnot )\bexceed[^.;]{0,100}context (length|window|size)/,
    /(longer|greater|larger) than [^.;]{0,100}context (length|window|size)/,
    /token count of \d+ exceeds the limit of \d+/,
    /`inputs` tokens \+ `max_new_tokens` must be <=/,
    /prompt is too long|input is too long|too many input tokens/,
    /reduce the length of the (messages|prompt|input)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "i",
);

/** An event that is JSON, but neither part of a reply nor an error. */
function isHarmless(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== "AI_TypeValidationError" || !("value" in error)) return false;
  const event = error.value;
  if (!isJsonObject(event)) return true;
  return !event.error && !(Array.isArray(event.choices) && event.choices.length > 0);
}
