import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { SharedV3ProviderOptions } from "@ai-sdk/provider";
import type { ThinkingLevelName } from "../contract.ts";
import { isJsonObject } from "../json-value.ts";
import { type Fidelity, isFidelity } from "../segment-fidelity.ts";
import { readAddress } from "./address.ts";
import { distinctCallIds } from "./distinct-call-ids.ts";
import { fitImages } from "./fit-images.ts";
import { legalCallId, legalName } from "./legal-names.ts";
import { bearer, callInput, OPENAI_URL } from "./openai/dialect.ts";
import { effortFor, type ModelTraits, traitsOf } from "./openai/model-traits.ts";
import { toolSchema } from "./openai/tool-schema.ts";
import { withCachedInput } from "./openai-chat/cached-input.ts";
import { joinDeltas } from "./openai-chat/join-deltas.ts";
import { LateSignatures, OWN, signatureOptions } from "./openai-chat/late-signatures.ts";
import { markForCache } from "./openai-chat/mark-for-cache.ts";
import { mendEvents } from "./openai-chat/mend-events.ts";
import { detailOptions, ReasoningDetails, withReasoningDetails } from "./openai-chat/reasoning-details.ts";
import { toolMessages } from "./openai-chat/tool-messages.ts";
import type { OpenProvider, PromptDialect } from "./provider.ts";
import { providerFetch } from "./provider-fetch.ts";

/**
 * OpenAI Chat Completions and the servers that are compatible with it (PC-106).
 *
 * The address is what OpenAI's SDK takes, with `/v1`; its query is kept. OpenAI's own models are known by their names:
 * only the reasoning ones are told how hard to think, which is the least they can at level `none`, and they get
 * `max_completion_tokens`; none of them is sent `reasoning_content`, which other servers get back with the reply it came in.
 * Other models are told `reasoning_effort` at any level but `none`. Reasoning that a gateway gave out in `reasoning_details`
 * goes back there instead. Models whose names begin with `anthropic/`, as gateways call Claude, have their cache marked.
 */
export const openOpenaiChat: OpenProvider = async ({ modelId, baseUrl = OPENAI_URL, onBytes, fetch }) => {
  const traits = traitsOf(modelId);
  const isClaude = /^~?anthropic\//i.test(modelId);
  const { address, query } = readAddress(baseUrl);
  const { host } = new URL(address);
  // Another vendor's model behind the same gateway cannot read them.
  const source = `${host} ${modelId.replace(/[^/]*$/, "")}`;
  /** Of the request that is starting. What belongs to one is taken from here before anything is waited for. */
  let starting: RequestState = newState(source);
  // Making a model costs more than a request: the package builds the schema of its events anew each time.
  const model = createOpenAICompatible({
    name: OWN,
    baseURL: address,
    ...(query && { queryParams: Object.fromEntries(new URLSearchParams(query)) }),
    includeUsage: host !== MISTRAL,
    fetch: (input, init) => {
      const { signatures } = starting;
      const watch = { onBytes, onToolCalls: (pieces: ToolCallPieces) => signatures.note(pieces), rewrite: joinDeltas };
      return providerFetch(fetch, (body) => mendEvents(body, watch))(input, init);
    },
    metadataExtractor: {
      extractMetadata: async () => undefined,
      createStreamExtractor: () => {
        const { details } = starting;
        return { processChunk: (chunk) => details.note(chunk), buildMetadata: () => undefined };
      },
    },
    transformRequestBody: (body) => {
      const limited = traits.reasoning ? withCompletionLimit(body) : body;
      return isClaude ? markForCache(limited) : limited;
    },
  }).chatModel(modelId);
  return {
    send: async (options) => {
      const { signatures, details } = newState(source);
      starting = { signatures, details };
      const { stream } = await model.doStream(options);
      return { stream, completePart: (part) => withCachedInput(details.complete(signatures.complete(part))) };
    },
    dialect: dialect(traits, source, isClaude),
    authHeaders: bearer,
    callOptions: ({ thinkingLevel, maxTokens }) => {
      const reasoningEffort = traits.openai ? effortFor(thinkingLevel, traits) : compatibleEffort(thinkingLevel);
      return {
        ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
        ...(reasoningEffort && { providerOptions: { openaiCompatible: { reasoningEffort } } }),
      };
    },
    isHarmless,
  };
};

/** It refuses `stream_options`, and counts without being asked. */
interface RequestState {
  readonly signatures: LateSignatures;
  readonly details: ReasoningDetails;
}

function newState(source: string): RequestState {
  return { signatures: new LateSignatures(), details: new ReasoningDetails(source) };
}

type ToolCallPieces = Parameters<LateSignatures["note"]>[0];

const MISTRAL = "api.mistral.ai";

function compatibleEffort(level: ThinkingLevelName | undefined): string | undefined {
  if (level === "none") return undefined;
  return level === "xhigh" ? "high" : level;
}

function withCompletionLimit({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> {
  return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
}

function dialect({ openai }: ModelTraits, source: string, isClaude: boolean): PromptDialect {
  const fidelity = (given: Fidelity): SharedV3ProviderOptions | undefined => {
    const options = { ...signatureOptions(given), ...detailOptions(given, source) };
    return Object.keys(options).length > 0 ? options : undefined;
  };
  return {
    keepsThinking: ({ fidelity: given }) => !openai || (isFidelity(given) && fidelity(given) !== undefined),
    fidelity,
    callId: (id) => legalCallId(id, MAX_CALL_ID_CHARACTERS),
    callName: (name) => legalName(name),
    callInput,
    toolMessages,
    toolSchema,
    // A server that names calls by their function has to get its own ids back; Claude refuses ids that are used twice.
    // Any model may be behind this protocol.
    finishPrompt: (prompt) => withReasoningDetails(fitImages(isClaude ? distinctCallIds(prompt) : prompt)),
  };
}

const MAX_CALL_ID_CHARACTERS = 40;

/** An event that is JSON, but neither part of a reply nor an error. */
function isHarmless(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== "AI_TypeValidationError" || !("value" in error)) return false;
  const event = error.value;
  if (!isJsonObject(event)) return true;
  return !event.error && !(Array.isArray(event.choices) && event.choices.length > 0);
}
