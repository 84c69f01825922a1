import type {
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3TextPart,
} from "@ai-sdk/provider";
import { distinctCallIds } from "../distinct-call-ids.ts";
import { withFilesBehind } from "../reply-files.ts";
import { userContent } from "../user-content.ts";
import { sendablePart } from "./sendable-part.ts";

/**
 * A prompt as the service takes it, its cache marked.
 *
 * Blank texts go. Files that another protocol's model gave out follow on the user's side. A reply does not end in thinking.
 * Call ids are distinct over the whole prompt. All of this depends on nothing that comes later, so that the beginning of a
 * prompt stays what it was; the marks alone move: on the system prompt, and on the last two turns of the user.
 */
export function finishPrompt(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const behind = withFilesBehind(prompt, "From the reply above:", standIn);
  return markForCache(distinctCallIds(behind.flatMap(acceptable)));
}

function standIn({ mediaType }: LanguageModelV3FilePart): LanguageModelV3TextPart {
  return { type: "text", text: `[${mediaType}, shown in the next message]` };
}

function acceptable(message: LanguageModelV3Message): LanguageModelV3Message[] {
  if (message.role === "tool") return [message];
  if (message.role === "user") return [{ ...message, content: userContent(message.content, sendablePart) }];
  if (message.role === "system") return isBlank(message.content) ? [] : [message];
  const content = replyContent(message.content);
  return content.length > 0 ? [{ ...message, content }] : [];
}

type Content = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];

function replyContent(content: Content): Content {
  const parts = content.filter((part) => part.type !== "text" || !isBlank(part.text));
  return parts.at(-1)?.type === "reasoning" ? [...parts, { type: "text", text: "[no answer]" }] : parts;
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

function markForCache(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
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
