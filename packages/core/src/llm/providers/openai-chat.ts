import { createHash } from "node:crypto";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { RookeryError } from "../../errors/rookery-error.ts";
import type { ThinkingLevelName } from "../contract.ts";
import { isJsonObject, parseJson } from "../json-value.ts";
import type { ProviderFailure } from "../provider-failure.ts";
import { mendEvents } from "./openai-chat/mend-events.ts";
import { toolMessages } from "./openai-chat/tool-messages.ts";
import type { OpenProvider, PromptDialect } from "./provider.ts";
import { wellFormedBody } from "./well-formed-body.ts";

/**
 * OpenAI Chat Completions and the servers that are compatible with it (PC-106).
 *
 * The address is what OpenAI's SDK takes, with `/v1`; its query is kept. OpenAI's own models are known by their names:
 * only the reasoning ones are told how hard to think, and they get `max_completion_tokens`; none of them is sent
 * `reasoning_content`, which other servers get back with the reply it came in.
 */
export const openOpenaiChat: OpenProvider = async ({ modelId, baseUrl = OPENAI_URL }) => {
  const traits = traitsOf(modelId);
  const { address, query } = readAddress(baseUrl);
  const provider = createOpenAICompatible({
    // The package hands thought signatures out under the provider's name and takes them back under this one.
    name: "google",
    baseURL: address,
    ...(query && { queryParams: query }),
    includeUsage: true,
    fetch: mendedFetch,
    ...(traits.reasoning && { transformRequestBody: withCompletionLimit }),
  });
  return {
    model: provider.chatModel(modelId),
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
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new RookeryError("config-invalid", `the base URL must be an http(s) address, got ${JSON.stringify(baseUrl)}`);
  }
  const query = url.search ? Object.fromEntries(url.searchParams) : undefined;
  return { address: `${url.origin}${url.pathname}`.replace(/\/+$/, ""), query };
}

const mendedFetch: typeof fetch = async (input, init) => {
  const body = typeof init?.body === "string" ? { body: wellFormedBody(init.body) } : {};
  const response = await fetch(input, { ...init, ...body });
  if (!response.ok || !response.body) return response;
  return new Response(mendEvents(response.body), { status: response.status, headers: response.headers });
};

function withCompletionLimit({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> {
  return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
}

function dialect(traits: Traits): PromptDialect {
  return {
    keepsThinking: () => !traits.openai,
    callId: (id) => (id.length <= MAX_CALL_ID_CHARACTERS ? id : `call_${digest(id)}`),
    callName: (name) => name.replace(/[^\w-]/g, "_").slice(0, MAX_NAME_CHARACTERS) || "_",
    callInput,
    toolMessages,
  };
}

const MAX_CALL_ID_CHARACTERS = 40;
const MAX_NAME_CHARACTERS = 64;

/** The package sends a text verbatim, except where keys in it look like an attack on prototypes: then it quotes it again. */
function callInput(text: string): unknown {
  const value = parseJson(text);
  return /"(__proto__|prototype)":/.test(JSON.stringify(value)) ? value : text;
}

function digest(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 32);
}

/** OpenAI's code, and the words of compatible servers; a rate limit may speak of tokens too and is none. */
function isOverflow({ status, types, words }: ProviderFailure): boolean {
  if (status === 429) return false;
  return types.some((type) => OVERFLOW_TYPES.test(type)) || OVERFLOW_WORDS.test(words);
}

const OVERFLOW_TYPES = /context_length_exceeded|exceed_context_size|context_window/;
const OVERFLOW_WORDS =
  /maximum context length|context (length|window|size)[^.]*exceed|exceed[^.]*context (length|window|size)|prompt is too long|input is too long|too many input tokens|reduce the length of the (messages|prompt|input)/i;

/** An event that is JSON, but neither part of a reply nor an error. */
function isHarmless(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== "AI_TypeValidationError" || !("value" in error)) return false;
  const event = error.value;
  if (!isJsonObject(event)) return true;
  return !event.error && !(Array.isArray(event.choices) && event.choices.length > 0);
}
