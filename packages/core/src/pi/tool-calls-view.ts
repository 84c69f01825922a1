import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { type AgentEvent, wholeMessage } from "./agent-event.ts";
import { callArguments, type ToolResultMessage, toToolResult } from "./agent-message.ts";

interface Call {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  hasStarted: boolean;
  result?: ToolResultMessage;
  isShown: boolean;
}

/** Sees the calls of one reply as pi's events. */
export class ToolCallsView {
  readonly #calls = new Map<string, Call>();

  /** In the order of the calls. */
  get results(): ToolResultMessage[] {
    return [...this.#calls.values()].flatMap(({ result }) => result ?? []);
  }

  haveResults(ids: readonly string[]): boolean {
    return ids.every((id) => this.#calls.get(id)?.result !== undefined);
  }

  push(message: OmniMessage): AgentEvent[] {
    if (isType(message, "tool_call")) {
      const { tool_call_id: toolCallId, name: toolName, arguments: json } = message.payload;
      const args = callArguments(json);
      this.#calls.set(toolCallId, { toolCallId, toolName, args, hasStarted: false, isShown: false });
      return [];
    }
    if (!("tool_call_id" in message.payload)) return [];
    const call = this.#calls.get(message.payload.tool_call_id);
    if (call === undefined) return [];
    if (isType(message, "approval_decision")) return start(call);
    if (isType(message, "tool_progress")) {
      const { toolCallId, toolName, args } = call;
      const { text, details } = message.payload;
      const content = text === undefined ? [] : [{ type: "text" as const, text }];
      const partialResult = { content, ...(details !== undefined && { details }) };
      return [...start(call), { type: "tool_execution_update", toolCallId, toolName, args, partialResult }];
    }
    if (!isType(message, "tool_call_output")) return [];
    call.result = toToolResult(message, call.toolName);
    return [...start(call), end(call, call.result), ...this.#show(false)];
  }

  /** The results that still waited for calls before them. */
  flush(): AgentEvent[] {
    return this.#show(true);
  }

  /** Shows results as messages, in order; unless `all`, up to the first call that has none. */
  #show(all: boolean): AgentEvent[] {
    const events: AgentEvent[] = [];
    for (const call of this.#calls.values()) {
      if (call.result === undefined && !all) break;
      if (call.result === undefined || call.isShown) continue;
      call.isShown = true;
      events.push(...wholeMessage(call.result));
    }
    return events;
  }
}

function start(call: Call): AgentEvent[] {
  if (call.hasStarted) return [];
  call.hasStarted = true;
  const { toolCallId, toolName, args } = call;
  return [{ type: "tool_execution_start", toolCallId, toolName, args }];
}

function end({ toolCallId, toolName }: Call, { content, details, isError }: ToolResultMessage): AgentEvent {
  const result = { content, ...(details !== undefined && { details }) };
  return { type: "tool_execution_end", toolCallId, toolName, result, isError };
}
