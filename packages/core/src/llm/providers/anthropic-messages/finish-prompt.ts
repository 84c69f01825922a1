import type { LanguageModelV3FilePart, LanguageModelV3Message, LanguageModelV3Prompt } from "@ai-sdk/provider";
import type { UserPart } from "../../file-part.ts";
import { DistinctCallIds } from "../distinct-call-ids.ts";
import { sendableFile } from "./sendable-file.ts";

/**
 * A prompt as the service takes it, its cache marked.
 *
 * Blank texts go. Files that another protocol's model gave out follow on the user's side. A reply does not end in thinking.
 * Call ids are distinct over the whole prompt. All of this depends on nothing that comes later, so that the beginning of a
 * prompt stays what it was; the marks alone move: on the system prompt, and on the last two turns of the user.
 */
export function finishPrompt(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  return markForCache(distinctCallIds(acceptable(prompt)));
}

type Reply = Extract<LanguageModelV3Message, { role: "assistant" }>;

function acceptable(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const accepted: LanguageModelV3Message[] = [];
  let given: LanguageModelV3FilePart[] = [];
  const showGiven = (): void => {
    if (given.length > 0) accepted.push({ role: "user", content: [GIVEN_BEFORE, ...given.map(sendableFile)] });
    given = [];
  };
  for (const message of prompt) {
    if (message.role !== "tool") showGiven();
    if (message.role === "tool") accepted.push(message);
    else if (message.role === "user") accepted.push({ ...message, content: userContent(message.content) });
    else if (message.role === "system") accepted.push(...(isBlank(message.content) ? [] : [message]));
    else {
      given = message.content.filter((part) => part.type === "file");
      const content = replyContent(message.content);
      if (content.length > 0) accepted.push({ ...message, content });
    }
  }
  showGiven();
  return accepted;
}

const GIVEN_BEFORE: UserPart = { type: "text", text: "From the reply above:" };

function userContent(content: readonly UserPart[]): UserPart[] {
  const parts = content.filter((part) => part.type === "file" || !isBlank(part.text));
  if (parts.length === 0) return [{ type: "text", text: "[empty message]" }];
  return parts.map((part) => (part.type === "file" ? sendableFile(part) : part));
}

function replyContent(content: Reply["content"]): Reply["content"] {
  const parts = content
    .filter((part) => part.type !== "text" || !isBlank(part.text))
    .map((part) =>
      part.type === "file" ? { type: "text" as const, text: `[${part.mediaType}, shown in the next message]` } : part,
    );
  return parts.at(-1)?.type === "reasoning" ? [...parts, { type: "text", text: "[no answer]" }] : parts;
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

function distinctCallIds(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const ids = new DistinctCallIds();
  return prompt.map((message) => {
    if (message.role === "assistant") {
      ids.nextReply();
      return {
        ...message,
        content: message.content.map((part) =>
          part.type === "tool-call" ? { ...part, toolCallId: ids.distinct(part.toolCallId) } : part,
        ),
      };
    }
    if (message.role !== "tool") return message;
    return {
      ...message,
      content: message.content.map((part) =>
        part.type === "tool-result" ? { ...part, toolCallId: ids.current(part.toolCallId) } : part,
      ),
    };
  });
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
