import type { AgentToolResult } from "../environment/agent-tool.ts";
import type { AgentMessage, AssistantMessage, ToolCallBlock, ToolResultMessage } from "./agent-message.ts";

/** What a reply says next, by the place of its block in the message. */
export type AssistantMessageEvent = { readonly contentIndex: number } & (
  | { readonly type: "text_start" | "thinking_start" | "toolcall_start" }
  | { readonly type: "text_delta" | "thinking_delta" | "toolcall_delta"; readonly delta: string }
  | { readonly type: "text_end" | "thinking_end"; readonly content: string }
  | { readonly type: "toolcall_end"; readonly toolCall: ToolCallBlock }
);

interface ToolExecution {
  readonly toolCallId: string;
  readonly toolName: string;
  /** As the model gave them. */
  readonly args: Readonly<Record<string, unknown>>;
}

/** What happens in a run, in pi's names. */
export type AgentEvent =
  | { readonly type: "agent_start" }
  /** `messages` are those of this run, its prompt included. */
  | { readonly type: "agent_end"; readonly messages: readonly AgentMessage[] }
  | { readonly type: "turn_start" }
  | {
      readonly type: "turn_end";
      readonly message: AssistantMessage;
      /** In the order of the calls. */
      readonly toolResults: readonly ToolResultMessage[];
    }
  | { readonly type: "message_start" | "message_end"; readonly message: AgentMessage }
  | {
      readonly type: "message_update";
      readonly message: AssistantMessage;
      readonly assistantMessageEvent: AssistantMessageEvent;
    }
  | ({ readonly type: "tool_execution_start" } & ToolExecution)
  | ({ readonly type: "tool_execution_update"; readonly partialResult: AgentToolResult } & ToolExecution)
  | ({
      readonly type: "tool_execution_end";
      readonly result: Pick<ToolResultMessage, "content" | "details">;
      readonly isError: boolean;
    } & Omit<ToolExecution, "args">);

/** A message that comes at once. */
export function wholeMessage(message: AgentMessage): AgentEvent[] {
  return [
    { type: "message_start", message },
    { type: "message_end", message },
  ];
}
