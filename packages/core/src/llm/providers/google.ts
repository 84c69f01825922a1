import { randomUUID } from "node:crypto";
import { GoogleGenerativeAILanguageModel } from "@ai-sdk/google/internal";
import { readBaseUrl } from "../base-url.ts";
import { isJsonObject, parseJson } from "../json-value.ts";
import type { ProviderFailure } from "../provider-failure.ts";
import { isFidelity } from "../segment-fidelity.ts";
import { readableFailures } from "./google/error-answer.ts";
import { finishPrompt } from "./google/finish-prompt.ts";
import { mendReply } from "./google/mend-reply.ts";
import { type Traits, traitsOf } from "./google/model-traits.ts";
import { completePart, OWN, ownFidelity } from "./google/reply-parts.ts";
import { thinkingConfig } from "./google/thinking-config.ts";
import { toolMessages } from "./google/tool-messages.ts";
import { toolSchema } from "./google/tool-schema.ts";
import { writtenBody } from "./google/written-body.ts";
import { legalName } from "./legal-names.ts";
import { marked, type OpenProvider, type PromptDialect } from "./provider.ts";
import { providerFetch } from "./provider-fetch.ts";

/**
 * The Gemini API (`streamGenerateContent`; PC-106).
 *
 * The address is what Google's SDK takes; `/v1beta` is added unless it ends in a version, and its query is kept. A call id
 * that the service gave goes back with its call and output; the service is never sent another.
 */
export const openGoogle: OpenProvider = async ({ modelId, baseUrl = GOOGLE_URL, onBytes, fetch }) => {
  const traits = traitsOf(modelId);
  const { address, query } = readAddress(baseUrl);
  const send = providerFetch(readableFailures(fetch), (body) => mendReply(body, onBytes));
  const model = new GoogleGenerativeAILanguageModel(modelId.replace(/[?#%]/g, encodeURIComponent), {
    provider: "google.generative-ai",
    baseURL: address,
    headers: {},
    generateId: () => marked("", randomUUID()),
    fetch: (input, init) => {
      const body = typeof init?.body === "string" ? { body: writtenBody(init.body) } : {};
      return send(`${input}${query}`, { ...init, ...body });
    },
  });
  return {
    model,
    completePart,
    dialect: dialect(traits),
    authHeaders: (apiKey) => (apiKey ? { "x-goog-api-key": apiKey } : {}),
    callOptions: ({ thinkingLevel, maxTokens }) => {
      const thinking = thinkingConfig(thinkingLevel, traits);
      return {
        ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
        providerOptions: {
          google: {
            ...(thinking && { thinkingConfig: thinking }),
            ...(traits.imageOut && { responseModalities: ["TEXT", "IMAGE"] }),
          },
        },
      };
    },
    isOverflow,
    isHarmless: () => false,
  };
};

const GOOGLE_URL = "https://generativelanguage.googleapis.com";

/** The address with a version at its end, and its query as it stands behind another. */
function readAddress(baseUrl: string): { address: string; query: string } {
  const url = readBaseUrl(baseUrl);
  const path = url.pathname.replace(/\/+$/, "");
  const version = /\/v\d+[a-z]*\d*$/.test(path) ? "" : "/v1beta";
  return { address: `${url.origin}${path}${version}`, query: url.search.replace("?", "&") };
}

function dialect(traits: Traits): PromptDialect {
  return {
    keepsThinking: ({ fidelity }) => isFidelity(fidelity) && typeof fidelity[OWN]?.thoughtSignature === "string",
    fidelity: ownFidelity,
    callId: (id) => id,
    callName: (name) => legalName(name, /^[A-Za-z_]/),
    callInput,
    toolMessages: (outputs) => toolMessages(outputs, traits.imagesInside),
    toolSchema,
    finishPrompt: (prompt) => finishPrompt(prompt, traits.insists),
  };
}

/** The service reads objects to a hundred levels; arguments that are too deep for it go back as an empty object. */
function callInput(argumentsText: string): unknown {
  const value = parseJson(argumentsText);
  return isJsonObject(value) && !isDeep(value, MAX_LEVELS) ? value : {};
}

const MAX_LEVELS = 80;

function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeep(inner, levels - 1));
}

/** Google says it in words alone; a rate limit may speak of tokens too and is none. */
function isOverflow({ status, words }: ProviderFailure): boolean {
  return status !== 429 && OVERFLOW_WORDS.test(words);
}

const OVERFLOW_WORDS =
  /token count[^.;]{0,60} exceeds the (maximum|limit)|token count[^.;]{0,60} only supports up to|exceeds? [^.;]{0,60}context (length|window)|prompt is too long/i;
