import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type {
  LanguageModelV3,
  LanguageModelV3Message,
  LanguageModelV3StreamPart,
  SharedV3ProviderMetadata,
} from "@ai-sdk/provider";
import type { ProviderCall, ProviderClientType, ProviderServer } from "../../src/testing/index.ts";

export const SDK_KEY = "sk-canary-2222";

/** A scripted reply with a piece of each kind. */
export const SDK_REPLY: { thinking: string; text: string; calls: ProviderCall[] } = {
  thinking: "I should look at both files.",
  text: "Let me read them: ä€😀.",
  calls: [
    { name: "read_file", args: { path: "a" } },
    { name: "read_file", args: { path: "b" } },
  ],
};

/** The content of an assistant's message. */
export type SdkContent = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];

/** A model of the server behind the AI SDK's own package for the protocol, none of ours in between. */
export function sdkModel(server: ProviderServer, clientType: ProviderClientType): LanguageModelV3 {
  const base = server.baseUrl(clientType);
  const apiKey = SDK_KEY;
  switch (clientType) {
    case "openai-chat":
      return createOpenAICompatible({ name: "chat", baseURL: base, apiKey, includeUsage: true }).chatModel("deepseek");
    case "openai-responses":
      return createOpenAI({ baseURL: base, apiKey }).responses("gpt-5.1");
    case "anthropic-messages":
      return createAnthropic({ baseURL: `${base}/v1`, apiKey }).messages("claude-sonnet-4-5");
    case "google":
      return createGoogleGenerativeAI({ baseURL: `${base}/v1beta`, apiKey })("gemini-3-pro");
  }
}

/** The parts of one reply. */
export async function sdkStream(
  model: LanguageModelV3,
  prompt: LanguageModelV3Message[],
  abortSignal?: AbortSignal,
): Promise<LanguageModelV3StreamPart[]> {
  const options = { prompt, providerOptions: { openai: { store: false } }, ...(abortSignal && { abortSignal }) };
  const { stream } = await model.doStream(options);
  const parts: LanguageModelV3StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

/** The content of a reply as it is sent back, with the metadata of its parts, each where it began. */
export function sdkContent(parts: readonly LanguageModelV3StreamPart[]): SdkContent {
  const content: SdkContent = [];
  const prose = new Map<
    string,
    { type: "text" | "reasoning"; text: string; providerOptions?: SharedV3ProviderMetadata }
  >();
  for (const part of parts) {
    const options =
      "providerMetadata" in part && part.providerMetadata ? { providerOptions: part.providerMetadata } : {};
    if (part.type === "text-start" || part.type === "reasoning-start") {
      const open = { type: part.type === "text-start" ? "text" : "reasoning", text: "", ...options } as const;
      prose.set(part.id, open);
      content.push(open);
    } else if (/^(text|reasoning)-(delta|end)$/.test(part.type) && "id" in part) {
      const open = prose.get(part.id);
      if (open) Object.assign(open, options, "delta" in part && { text: open.text + part.delta });
    } else if (part.type === "file" && typeof part.data === "string") {
      content.push({ type: "file", data: part.data, mediaType: part.mediaType, ...options });
    } else if (part.type === "tool-call") {
      const { toolCallId, toolName, input } = part;
      content.push({ type: "tool-call", toolCallId, toolName, input: JSON.parse(input), ...options });
    }
  }
  return content;
}

export function sdkUser(text: string): LanguageModelV3Message {
  return { role: "user", content: [{ type: "text", text }] };
}

export function sdkAssistant(content: SdkContent): LanguageModelV3Message {
  return { role: "assistant", content };
}

/** An answer to each call. */
export function sdkAnswers(content: SdkContent): LanguageModelV3Message {
  const calls = content.filter((part) => part.type === "tool-call");
  const result = { type: "tool-result", output: { type: "text", value: "ok" } } as const;
  return { role: "tool", content: calls.map(({ toolCallId, toolName }) => ({ ...result, toolCallId, toolName })) };
}
