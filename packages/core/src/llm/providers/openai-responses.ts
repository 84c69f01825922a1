import { OpenAIResponsesLanguageModel } from "@ai-sdk/openai/internal";
import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { readAddress } from "./address.ts";
import { MAX_CALL_ID_CHARACTERS } from "./distinct-call-ids.ts";
import { legalCallId, legalName } from "./legal-names.ts";
import { bearer, callInput, OPENAI_URL } from "./openai/dialect.ts";
import { effortFor, type ModelTraits, traitsOf } from "./openai/model-traits.ts";
import { toolSchema } from "./openai/tool-schema.ts";
import { callItemIds, withCallItemIds } from "./openai-responses/call-item-ids.ts";
import { inputPrompt } from "./openai-responses/input-prompt.ts";
import { mendEvents } from "./openai-responses/mend-events.ts";
import { ownOptions, withOwnFidelity } from "./openai-responses/own-fidelity.ts";
import { toolMessages } from "./openai-responses/tool-messages.ts";
import { errorOf } from "./openai-responses/wire-error.ts";
import type { OpenProvider, PromptDialect, Provider } from "./provider.ts";
import { providerFetch } from "./provider-fetch.ts";

/**
 * OpenAI Responses and the servers that are compatible with it (PC-106).
 *
 * The address is what OpenAI's SDK takes, with `/v1`; its query is kept. Nothing is stored at the service: each request holds
 * the whole conversation. OpenAI's reasoning models, known by their names, are asked for their encrypted reasoning, which
 * goes back with the reply it came in, and for summaries of it.
 */
export const openOpenaiResponses: OpenProvider = async ({ modelId, baseUrl = OPENAI_URL, onBytes, fetch }) => {
  const traits = traitsOf(modelId);
  const { address, query } = readAddress(baseUrl);
  return {
    send: async (options) => {
      const itemIds = callItemIds(options.prompt);
      const transport: typeof fetch = (input, init) => {
        const body = typeof init?.body === "string" ? { body: withCallItemIds(init.body, itemIds) } : {};
        return fetch(input, { ...init, ...body });
      };
      const model = new OpenAIResponsesLanguageModel(modelId, {
        provider: "openai.responses",
        url: ({ path }) => `${address}${path}${query}`,
        headers: () => ({}),
        explicitMessageItemType: true,
        fetch: providerFetch(transport, (body) => mendEvents(body, onBytes)),
      });
      const { stream } = await model.doStream(withoutStrictTools(options));
      return { stream, completePart };
    },
    dialect: dialect(traits),
    authHeaders: bearer,
    callOptions: (request) => callOptions(request, traits),
    isHarmless: () => false,
  };
};

function completePart(part: LanguageModelV3StreamPart): LanguageModelV3StreamPart {
  return part.type === "error" ? { type: "error", error: errorOf(part.error) } : withOwnFidelity(part);
}

/** The least `max_output_tokens` the service takes. */
const MIN_OUTPUT_TOKENS = 16;

/** A tool that does not say how strict it is would have all its optional arguments made required. */
function withoutStrictTools({ tools, ...options }: LanguageModelV3CallOptions): LanguageModelV3CallOptions {
  if (!tools) return options;
  return { ...options, tools: tools.map((tool) => (tool.type === "function" ? { ...tool, strict: false } : tool)) };
}

function callOptions(
  { thinkingLevel, maxTokens }: Parameters<Provider["callOptions"]>[0],
  traits: ModelTraits,
): ReturnType<Provider["callOptions"]> {
  const reasoningEffort = effortFor(thinkingLevel, traits);
  return {
    ...(maxTokens !== undefined && { maxOutputTokens: Math.max(maxTokens, MIN_OUTPUT_TOKENS) }),
    providerOptions: {
      openai: {
        store: false,
        forceReasoning: traits.reasoning,
        systemMessageMode: traits.reasoning ? "developer" : "system",
        ...(traits.reasoning && { reasoningSummary: "auto" }),
        ...(reasoningEffort && { reasoningEffort }),
      },
    },
  };
}

function dialect({ takesReasoning }: ModelTraits): PromptDialect {
  return {
    // What of it can go back depends on what stands around it: see `inputPrompt`.
    keepsThinking: () => true,
    fidelity: ownOptions,
    callId: (id) => legalCallId(id, MAX_CALL_ID_CHARACTERS),
    // The package would look up a name that all objects know, and lose it.
    callName: (name) => legalName(name in {} ? `${name} ` : name),
    callInput,
    toolMessages,
    toolSchema,
    finishPrompt: (prompt) => inputPrompt(prompt, takesReasoning),
  };
}
