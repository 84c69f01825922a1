import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { ThinkingLevelName } from "../contract.ts";
import { isJsonObject } from "../json-value.ts";
import { readAddress } from "./address.ts";
import { legalCallId, legalName } from "./legal-names.ts";
import { bearer, callInput, OPENAI_URL } from "./openai/dialect.ts";
import { toolSchema } from "./openai/tool-schema.ts";
import { withCachedInput } from "./openai-chat/cached-input.ts";
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
  return {
    send: async (options) => {
      const signatures = new LateSignatures();
      const provider = createOpenAICompatible({
        name: OWN,
        baseURL: address,
        ...(query && { queryParams: Object.fromEntries(new URLSearchParams(query)) }),
        includeUsage: true,
        fetch: providerFetch(fetch, (body) =>
          mendEvents(body, { onBytes, onToolCalls: (pieces) => signatures.note(pieces), rewrite: joinDeltas }),
        ),
        ...(traits.reasoning && { transformRequestBody: withCompletionLimit }),
      });
      const { stream } = await provider.chatModel(modelId).doStream(options);
      return { stream, completePart: (part) => withCachedInput(signatures.complete(part)) };
    },
    dialect: dialect(traits),
    authHeaders: bearer,
    callOptions: ({ thinkingLevel, maxTokens }) => {
      const reasoningEffort = effort(thinkingLevel, traits);
      return {
        ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
        ...(reasoningEffort && { providerOptions: { openaiCompatible: { reasoningEffort } } }),
      };
    },
    isHarmless,
  };
};

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

function withCompletionLimit({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> {
  return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
}

function dialect(traits: Traits): PromptDialect {
  return {
    keepsThinking: () => !traits.openai,
    fidelity: signatureOptions,
    callId: (id) => legalCallId(id, MAX_CALL_ID_CHARACTERS),
    callName: (name) => legalName(name),
    callInput,
    toolMessages,
    toolSchema,
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
