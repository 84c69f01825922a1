import { isType } from "../omnimessage/guards.ts";
import type { EventPayload, OmniMessage, PartialPayload, ToolUsage } from "../omnimessage/message.ts";
import { toToolUsage } from "../omnimessage/token-counts.ts";
import type { AgentEvent, AssistantMessageEvent } from "./agent-event.ts";
import { type AssistantBlock, type AssistantMessage, callArguments } from "./agent-message.ts";

/** Sees one reply as pi's events: `message_start`, an update for each step, `message_end`. */
export class ReplyView {
  readonly #blocks: AssistantBlock[] = [];
  /** The places of the segments that stream, by kind and call. */
  readonly #open = new Map<string, number>();
  /** What calls have said of their arguments so far. */
  readonly #json = new Map<number, string>();
  readonly #timestamp: number;
  #hasStarted = false;
  #usage: ToolUsage | undefined;
  #end: Pick<AssistantMessage, "stopReason" | "errorMessage"> | undefined;

  constructor(timestamp: string) {
    this.#timestamp = Date.parse(timestamp);
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** The reply as it is now. */
  get message(): AssistantMessage {
    return {
      role: "assistant",
      content: [...this.#blocks],
      ...(this.#end ?? { stopReason: this.callIds.length > 0 ? "toolUse" : "stop" }),
      ...(this.#usage && { usage: this.#usage }),
      timestamp: this.#timestamp,
    };
  }

  get callIds(): string[] {
    return this.#blocks.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
  }

  push(message: OmniMessage): AgentEvent[] {
    if (isType(message, "token_usage") && message.payload.source === undefined)
      this.#usage = toToolUsage(message.payload);
    if (isType(message, "partial_text")) return this.#fragment("text", message.payload, message.payload.text);
    if (isType(message, "partial_thinking")) {
      return this.#fragment("thinking", message.payload, message.payload.thinking);
    }
    if (isType(message, "partial_tool_call")) {
      return this.#fragment(message.payload.tool_call_id, message.payload, message.payload.arguments);
    }
    const complete = completeBlock(message);
    return complete === undefined ? [] : this.#complete(complete);
  }

  /** Ends the reply, as `request_end` says. */
  end({ status, finish_reason, error_message }: EventPayload<"request_end">): AgentEvent[] {
    const started = this.#start();
    this.#end = {
      stopReason: status === "completed" ? this.#finish(finish_reason) : status === "aborted" ? "aborted" : "error",
      ...(error_message !== undefined && { errorMessage: error_message }),
    };
    return [...started, { type: "message_end", message: this.message }];
  }

  #finish(reason: EventPayload<"request_end">["finish_reason"]): AssistantMessage["stopReason"] {
    if (reason === "length") return "length";
    return this.callIds.length > 0 ? "toolUse" : "stop";
  }

  #fragment(
    key: string,
    payload: Exclude<PartialPayload, { type: "partial_tool_call_output" }>,
    delta: string,
  ): AgentEvent[] {
    const isNew = !this.#open.has(key);
    const events = isNew ? this.#openBlock(key, emptyBlock(payload)) : [];
    if (delta === "") return events;
    const index = this.#open.get(key) ?? 0;
    this.#extend(index, delta);
    return [...events, this.#update({ type: `${eventName(payload)}_delta`, contentIndex: index, delta })];
  }

  #complete(block: AssistantBlock): AgentEvent[] {
    const key = block.type === "toolCall" ? block.id : block.type;
    const events = this.#open.has(key) ? [] : this.#openBlock(key, block);
    const contentIndex = this.#open.get(key) ?? 0;
    this.#open.delete(key);
    this.#blocks[contentIndex] = block;
    return [...events, this.#update({ contentIndex, ...endOf(block) })];
  }

  #openBlock(key: string, block: AssistantBlock): AgentEvent[] {
    const contentIndex = this.#blocks.length;
    const started = this.#start();
    this.#open.set(key, contentIndex);
    this.#blocks.push(block);
    const name = block.type === "toolCall" ? "toolcall" : block.type;
    return [...started, this.#update({ type: `${name}_start`, contentIndex })];
  }

  #extend(index: number, delta: string): void {
    const block = this.#blocks[index];
    if (block?.type === "text") this.#blocks[index] = { ...block, text: block.text + delta };
    if (block?.type === "thinking") this.#blocks[index] = { ...block, thinking: block.thinking + delta };
    if (block?.type !== "toolCall") return;
    const json = (this.#json.get(index) ?? "") + delta;
    this.#json.set(index, json);
    this.#blocks[index] = { ...block, arguments: callArguments(json) };
  }

  #start(): AgentEvent[] {
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    return [{ type: "message_start", message: this.message }];
  }

  #update(assistantMessageEvent: AssistantMessageEvent): AgentEvent {
    return { type: "message_update", message: this.message, assistantMessageEvent };
  }
}

type ReplyFragment = Exclude<PartialPayload, { type: "partial_tool_call_output" }>;

function eventName({ type }: ReplyFragment): "text" | "thinking" | "toolcall" {
  return type === "partial_text" ? "text" : type === "partial_thinking" ? "thinking" : "toolcall";
}

function emptyBlock(payload: ReplyFragment): AssistantBlock {
  if (payload.type === "partial_text") return { type: "text", text: "" };
  if (payload.type === "partial_thinking") return { type: "thinking", thinking: "" };
  return { type: "toolCall", id: payload.tool_call_id, name: payload.name, arguments: {} };
}

function completeBlock(message: OmniMessage): AssistantBlock | undefined {
  if (isType(message, "text") && message.payload.role === "assistant")
    return { type: "text", text: message.payload.text };
  if (isType(message, "thinking")) return { type: "thinking", thinking: message.payload.thinking };
  if (!isType(message, "tool_call")) return undefined;
  const { tool_call_id: id, name, arguments: json } = message.payload;
  return { type: "toolCall", id, name, arguments: callArguments(json) };
}

function endOf(block: AssistantBlock) {
  if (block.type === "toolCall") return { type: "toolcall_end", toolCall: block } as const;
  return block.type === "text"
    ? ({ type: "text_end", content: block.text } as const)
    : ({ type: "thinking_end", content: block.thinking } as const);
}
