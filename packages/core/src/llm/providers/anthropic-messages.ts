import { createAnthropic } from "@ai-sdk/anthropic";
import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart, SharedV3ProviderOptions } from "@ai-sdk/provider";
import { isJsonObject, parseJson } from "../json-value.ts";
import { type Fidelity, isFidelity } from "../segment-fidelity.ts";
import { readAddress } from "./address.ts";
import { finishPrompt } from "./anthropic-messages/finish-prompt.ts";
import { fitRequest } from "./anthropic-messages/fit-request.ts";
import { MessagesMender } from "./anthropic-messages/mend-events.ts";
import { traitsOf } from "./anthropic-messages/model-traits.ts";
import { thinkingOptions } from "./anthropic-messages/thinking-options.ts";
import { toolMessages } from "./anthropic-messages/tool-messages.ts";
import { toolSchema } from "./anthropic-messages/tool-schema.ts";
import { callInput } from "./call-input.ts";
import { MAX_CALL_ID_CHARACTERS } from "./distinct-call-ids.ts";
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
  const { address, query } = versionedAddress(baseUrl);
  const transport: typeof fetch = (input, init) => fetch(`${String(input)}${query}`, init);
  return {
    send: async (options) => {
      let answered = false;
      const provider = createAnthropic({
        baseURL: address,
        apiKey: "",
        fetch: providerFetch(transport, (body) => {
          answered = true;
          return mendStream(body, new MessagesMender(), onBytes);
        }),
      });
      try {
        const { stream } = await provider(modelId).doStream(withoutOwnKey(fitRequest(options)));
        return { stream, completePart: (part) => withOwnFidelity(part, own) };
      } catch (error) {
        throw answered ? eventBehind(error) : error;
      }
    },
    dialect: dialect(own),
    authHeaders: (apiKey) => (apiKey ? { "x-api-key": apiKey } : {}),
    callOptions: ({ thinkingLevel, maxTokens = traits.maxTokens }) => {
      const { maxOutputTokens, anthropic } = thinkingOptions(thinkingLevel, traits, maxTokens);
      return { maxOutputTokens, providerOptions: { anthropic: { ...anthropic, toolStreaming: false } } };
    },
    isHarmless: () => false,
  };
};

const ANTHROPIC_URL = "https://api.anthropic.com";

/** The address with its version, and its query apart. */
function versionedAddress(baseUrl: string): { address: string; query: string } {
  const { address, query } = readAddress(baseUrl);
  return { address: /\/v\d\w*$/.test(address) ? address : `${address}/v1`, query };
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
    callInput: (text) => callInput(text, MAX_ARGUMENT_LEVELS),
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

/** Readers of JSON, that of the service too, stop at about a thousand. */
const MAX_ARGUMENT_LEVELS = 500;
