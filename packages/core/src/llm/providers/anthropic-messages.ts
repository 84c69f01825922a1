import { createAnthropic } from "@ai-sdk/anthropic";
import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart, SharedV3ProviderOptions } from "@ai-sdk/provider";
import { readBaseUrl } from "../base-url.ts";
import { isJsonObject, parseJson } from "../json-value.ts";
import type { ProviderFailure } from "../provider-failure.ts";
import { type Fidelity, isFidelity } from "../segment-fidelity.ts";
import { finishPrompt } from "./anthropic-messages/finish-prompt.ts";
import { fitRequest } from "./anthropic-messages/fit-request.ts";
import { MessagesMender } from "./anthropic-messages/mend-events.ts";
import { traitsOf } from "./anthropic-messages/model-traits.ts";
import { thinkingOptions } from "./anthropic-messages/thinking-options.ts";
import { toolMessages } from "./anthropic-messages/tool-messages.ts";
import { toolSchema } from "./anthropic-messages/tool-schema.ts";
import { mendStream } from "./event-stream.ts";
import { legalCallId, legalName } from "./legal-names.ts";
import type { OpenProvider, PromptDialect } from "./provider.ts";
import { providerFetch } from "./provider-fetch.ts";

/**
 * Anthropic Messages and the servers that are compatible with it.
 *
 * The address is what Anthropic's SDK takes: `/v1` is added unless it ends in a version; its query is kept. What a model is
 * told about thinking, and its limit where none is configured, depends on its name: see {@link traitsOf}.
 */
export const openAnthropicMessages: OpenProvider = async ({ modelId, baseUrl = ANTHROPIC_URL, onBytes, fetch }) => {
  const traits = traitsOf(modelId);
  const own = traits.claude ? PACKAGE : COMPATIBLE;
  const { address, query } = readAddress(baseUrl);
  const send: typeof fetch = (input, init) => fetch(`${String(input)}${query}`, init);
  let answered = false;
  const provider = createAnthropic({
    baseURL: address,
    apiKey: "",
    fetch: providerFetch(send, (body) => {
      answered = true;
      return mendStream(body, new MessagesMender(), onBytes);
    }),
  });
  const model = provider(modelId);
  return {
    model: {
      doStream: async (options) => {
        answered = false;
        try {
          return await model.doStream(withoutOwnKey(fitRequest(options)));
        } catch (error) {
          throw answered ? eventBehind(error) : error;
        }
      },
    },
    completePart: (part) => withOwnFidelity(part, own),
    dialect: dialect(own),
    authHeaders: (apiKey) => (apiKey ? { "x-api-key": apiKey } : {}),
    callOptions: ({ thinkingLevel, maxTokens = traits.maxTokens }) => {
      const { maxOutputTokens, anthropic } = thinkingOptions(thinkingLevel, traits, maxTokens);
      return { maxOutputTokens, providerOptions: { anthropic: { ...anthropic, toolStreaming: false } } };
    },
    isOverflow,
    isHarmless: () => false,
  };
};

const MAX_CALL_ID_CHARACTERS = 64;
const ANTHROPIC_URL = "https://api.anthropic.com";

/** The address with its version, without slashes at its end, and its query apart. */
function readAddress(baseUrl: string): { address: string; query: string } {
  const url = readBaseUrl(baseUrl);
  const address = `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  return { address: /\/v\d\w*$/.test(address) ? address : `${address}/v1`, query: url.search };
}

/** The package would send a key of its own, though it be empty. */
function withoutOwnKey(options: LanguageModelV3CallOptions): LanguageModelV3CallOptions {
  return { ...options, headers: { "x-api-key": undefined, ...options.headers } };
}

/** The package makes an HTTP answer, which there was not, of an error event that is the first of its stream. */
function eventBehind(error: unknown): unknown {
  const body =
    isJsonObject(error) && typeof error.responseBody === "string" ? parseJson(error.responseBody) : undefined;
  return isJsonObject(body) ? body : error;
}

/** The name of the protocol in the package's metadata, and in the fidelity of Anthropic's own models. */
const PACKAGE = "anthropic";
/** That of other models: Anthropic refuses what others have signed. */
const COMPATIBLE = "anthropicCompatible";

function withOwnFidelity(part: LanguageModelV3StreamPart, own: string): LanguageModelV3StreamPart {
  if (!("providerMetadata" in part)) return part;
  const { providerMetadata, ...rest } = part;
  const fields = signatureFields(providerMetadata?.[PACKAGE]);
  return fields ? { ...rest, providerMetadata: { [own]: fields } } : rest;
}

function dialect(own: string): PromptDialect {
  const fidelity = ({ [own]: fields }: Fidelity): SharedV3ProviderOptions | undefined => {
    const signed = signatureFields(fields);
    return signed && { [PACKAGE]: signed };
  };
  return {
    keepsThinking: ({ fidelity: given }) => isFidelity(given) && fidelity(given) !== undefined,
    fidelity,
    callId: (id) => legalCallId(id, MAX_CALL_ID_CHARACTERS, /^[\w-]+$/),
    callName: (name) => legalName(name),
    callInput,
    toolMessages,
    toolSchema,
    finishPrompt,
  };
}

/** A signature, or thinking that is closed to us. */
function signatureFields(fields: Readonly<Record<string, unknown>> = {}): Record<string, string> | undefined {
  const { signature, redactedData } = fields;
  if (typeof signature === "string" && signature !== "") return { signature };
  return typeof redactedData === "string" && redactedData !== "" ? { redactedData } : undefined;
}

/** Arguments go as a value; one that is too deep to be written goes back as an empty object. */
function callInput(text: string): unknown {
  const value = parseJson(text);
  return isDeeperThan(MAX_DEPTH, value) ? {} : value;
}

/** Readers of JSON, that of the service too, stop at about a thousand. */
const MAX_DEPTH = 500;

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item));
}

/** The service's words and those of compatible servers; a rate limit may speak of tokens too and is none. */
function isOverflow({ status, types, words }: ProviderFailure): boolean {
  if (status === 429) return false;
  return types.some((type) => /context_(length|window)_exceeded/.test(type)) || OVERFLOW_WORDS.test(words);
}

const OVERFLOW_WORDS =
  /(prompt|input) is too long|too many input tokens|exceeds? (the )?(model'?s? )?(maximum |max )?context (limit|length|window)|maximum context length/i;
