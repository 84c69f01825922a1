import type { LanguageModelV3Message } from "@ai-sdk/provider";
import { userContent } from "../user-content.ts";
import { sendablePart } from "./sendable-part.ts";

/** A message as the service takes it: without blank texts, and a reply that does not end in thinking; none if nothing is left. */
export function sendableMessage(message: LanguageModelV3Message): LanguageModelV3Message[] {
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
