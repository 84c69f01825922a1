import type { AgentToolResult } from "../environment/agent-tool.ts";
import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage, ToolCallOutputPayload, ToolUsage } from "../omnimessage/message.ts";
import { isRecord } from "../omnimessage/shape.ts";

/** A text or an image, as a user and a tool give it to the model. */
export type ContentBlock = AgentToolResult["content"][number];

export interface ToolCallBlock {
  readonly type: "toolCall";
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type AssistantBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string }
  | ToolCallBlock;

export interface UserMessage {
  readonly role: "user";
  readonly content: readonly ContentBlock[];
  /** In milliseconds since 1970, as in all messages. */
  readonly timestamp: number;
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly AssistantBlock[];
  /** `error` and `aborted`: the reply broke off, and no later request repeats it. */
  readonly stopReason: "stop" | "length" | "toolUse" | "error" | "aborted";
  readonly errorMessage?: string;
  /** `input` is what no cache held; a cost that is not known is 0. */
  readonly usage?: ToolUsage;
  readonly timestamp: number;
}

export interface ToolResultMessage {
  readonly role: "toolResult";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: readonly ContentBlock[];
  /** For people and programs; absent in what a model gets. */
  readonly details?: unknown;
  readonly usage?: ToolUsage;
  readonly isError: boolean;
  readonly timestamp: number;
}

/** A message of a conversation in pi's form. */
export type AgentMessage = UserMessage | AssistantMessage | ToolResultMessage;

/** What users said, as one message; absent where they said nothing. */
export function toUserMessage(messages: readonly OmniMessage[]): UserMessage | undefined {
  const content = messages.flatMap(userBlocks);
  const [first] = messages;
  return first && content.length > 0 ? { role: "user", content, timestamp: Date.parse(first.timestamp) } : undefined;
}

function userBlocks(message: OmniMessage): ContentBlock[] {
  if (isType(message, "text")) return [{ type: "text", text: message.payload.text }];
  if (isType(message, "image_url")) return imageBlocks([message.payload.image_url]);
  if (!isType(message, "inline_data")) return [];
  return [{ type: "image", data: message.payload.data, mimeType: message.payload.mime_type }];
}

export function toToolResult(message: OmniMessage<ToolCallOutputPayload>, toolName: string): ToolResultMessage {
  const { tool_call_id, output, images = [], details, usage, stop_reason = "completed" } = message.payload;
  return {
    role: "toolResult",
    toolCallId: tool_call_id,
    toolName,
    content: [{ type: "text", text: output }, ...imageBlocks(images)],
    ...(details !== undefined && { details }),
    ...(usage && { usage }),
    isError: stop_reason !== "completed",
    timestamp: Date.parse(message.timestamp),
  };
}

/** The arguments of a call; `{}` for text that is no JSON object. */
export function callArguments(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** An image that is only an address is told by that. */
function imageBlocks(urls: readonly string[]): ContentBlock[] {
  return urls.map((url) => {
    const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
    if (mimeType === undefined || data === undefined) return { type: "text", text: `[image: ${url}]` };
    return { type: "image", data, mimeType };
  });
}
