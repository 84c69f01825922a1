import type { LanguageModelV3Message, LanguageModelV3Prompt } from "@ai-sdk/provider";

/** The same prompt, to be cached up to the end of the system prompt and of the last two turns of the user. */
export function markForCache(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const ends = [...prompt.keys()].filter((i) => isUserSide(prompt[i]) && !isUserSide(prompt[i + 1]));
  const places = new Set(ends.slice(-2));
  return prompt.map((message, i) =>
    message.role === "system" || places.has(i) ? { ...message, providerOptions: CACHED } : message,
  );
}

const CACHED = { anthropic: { cacheControl: { type: "ephemeral" } } };

function isUserSide(message: LanguageModelV3Message | undefined): boolean {
  return message?.role === "user" || message?.role === "tool";
}
