import { randomUUID } from "node:crypto";
import { GoogleGenerativeAILanguageModel } from "@ai-sdk/google/internal";
import { isFidelity } from "../segment-fidelity.ts";
import { readAddress } from "./address.ts";
import { callInput } from "./call-input.ts";
import { readableFailures } from "./google/error-answer.ts";
import { finishPrompt } from "./google/finish-prompt.ts";
import { mendReply } from "./google/mend-reply.ts";
import { type Traits, traitsOf } from "./google/model-traits.ts";
import { callName, completePart, OWN, ownFidelity } from "./google/reply-parts.ts";
import { thinkingConfig } from "./google/thinking-config.ts";
import { toolMessages } from "./google/tool-messages.ts";
import { toolSchema } from "./google/tool-schema.ts";
import { writtenBody } from "./google/written-body.ts";
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
  const { address, query } = versionedAddress(baseUrl);
  const mended = providerFetch(readableFailures(fetch), (body) => mendReply(body, onBytes));
  const model = new GoogleGenerativeAILanguageModel(modelId.replace(/[?#%]/g, encodeURIComponent), {
    provider: "google.generative-ai",
    baseURL: address,
    headers: {},
    generateId: () => marked("", randomUUID()),
    fetch: (input, init) => {
      const body = typeof init?.body === "string" ? { body: writtenBody(init.body) } : {};
      return mended(`${input}${query}`, { ...init, ...body });
    },
  });
  return {
    send: async (options) => ({ stream: (await model.doStream(options)).stream, completePart }),
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
    isHarmless: () => false,
  };
};

const GOOGLE_URL = "https://generativelanguage.googleapis.com";

/** The address with a version at its end, and its query as it stands behind another. */
function versionedAddress(baseUrl: string): { address: string; query: string } {
  const { address, query } = readAddress(baseUrl);
  return {
    address: /\/v\d+[a-z]*\d*$/.test(address) ? address : `${address}/v1beta`,
    query: query.replace("?", "&"),
  };
}

function dialect(traits: Traits): PromptDialect {
  return {
    keepsThinking: ({ fidelity }) => isFidelity(fidelity) && typeof fidelity[OWN]?.thoughtSignature === "string",
    fidelity: ownFidelity,
    callId: (id) => id,
    callName,
    callInput: (text) => callInput(text, MAX_ARGUMENT_LEVELS),
    toolMessages: (outputs) => toolMessages(outputs, traits.imagesInside),
    toolSchema,
    finishPrompt: (prompt) => finishPrompt(prompt, traits.insists),
  };
}

/** The service reads objects to a hundred. */
const MAX_ARGUMENT_LEVELS = 80;
