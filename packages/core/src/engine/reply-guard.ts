import { modelMessage } from "../omnimessage/build.ts";
import { isCompleteModelMessage, isType } from "../omnimessage/guards.ts";
import type {
  CompletePayload,
  OmniMessage,
  PartialPayload,
  StopReason,
  TextPayload,
  ThinkingPayload,
  ToolCallPayload,
} from "../omnimessage/message.ts";

type Streamed = TextPayload | ThinkingPayload | ToolCallPayload;
interface Segment {
  readonly key: string;
  readonly head: Streamed;
  readonly pieces: string[];
}

/**
 * Keeps what a model says within rule 1, whatever implements it: a segment that was left open is closed, a complete
 * message that was never streamed is streamed first, and one that is missing behind its stop is supplied.
 */
export class ReplyGuard {
  readonly #open = new Map<string, Segment>();
  #stopped: Segment | undefined;

  /** The legal form of one message of the model; empty for what is not a model's to say. */
  take(message: OmniMessage): OmniMessage[] {
    if (message.origin !== undefined || (message.payload as { role?: string }).role !== "assistant") return [];
    if (isCompleteModelMessage(message)) return this.#complete(message);
    return this.#fragment(message as OmniMessage<PartialPayload>);
  }

  /** Closes what is open, with the reason why the reply ended. */
  end(reason: StopReason): OmniMessage[] {
    const segments = [...this.#open.values()];
    this.#open.clear();
    return [...this.#supplyComplete(), ...segments.flatMap((segment) => closing(segment, reason))];
  }

  #fragment(message: OmniMessage<PartialPayload>): OmniMessage[] {
    const { payload } = message;
    if (payload.type === "partial_tool_call_output") return [];
    const key = payload.type === "partial_tool_call" ? `tool_call ${payload.tool_call_id}` : payload.type;
    const supplied = this.#supplyComplete();
    let segment = this.#open.get(key);
    const opening: OmniMessage[] = [];
    if (!segment) {
      if (payload.event_type === "stop") return supplied;
      segment = { key, head: emptyComplete(payload), pieces: [] };
      this.#open.set(key, segment);
      if (payload.event_type === "delta") opening.push(fragmentOf(segment.head, "start", ""));
    }
    const piece = contentOf(payload);
    if (piece !== "") segment.pieces.push(piece);
    if (payload.event_type === "stop") {
      this.#open.delete(key);
      this.#stopped = segment;
    }
    return [...supplied, ...opening, message];
  }

  #complete(message: OmniMessage<CompletePayload>): OmniMessage[] {
    if (!isStreamed(message)) return [...this.#supplyComplete(), message];
    const key = isType(message, "tool_call")
      ? `tool_call ${message.payload.tool_call_id}`
      : `partial_${message.payload.type}`;
    if (this.#stopped?.key === key) {
      const shown = this.#stopped.pieces.join("");
      this.#stopped = undefined;
      return [contentOf(message.payload) === shown ? message : withContent(message, shown)];
    }
    const supplied = this.#supplyComplete();
    const segment = this.#open.get(key);
    this.#open.delete(key);
    const shown = segment?.pieces.join("") ?? "";
    const content = contentOf(message.payload);
    // What was shown cannot be taken back.
    const legal = content.startsWith(shown) ? message : withContent(message, shown);
    const missing = contentOf(legal.payload).slice(shown.length);
    return [
      ...supplied,
      ...(segment ? [] : [fragmentOf(legal.payload, "start", "")]),
      ...(missing === "" ? [] : [fragmentOf(legal.payload, "delta", missing)]),
      fragmentOf(legal.payload, "stop", ""),
      legal,
    ];
  }

  #supplyComplete(): OmniMessage[] {
    const segment = this.#stopped;
    if (!segment) return [];
    this.#stopped = undefined;
    return [completeOf(segment, undefined)];
  }
}

function isStreamed(message: OmniMessage<CompletePayload>): message is OmniMessage<Streamed> {
  return isType(message, "text") || isType(message, "thinking") || isType(message, "tool_call");
}

function contentOf(payload: Streamed | Exclude<PartialPayload, { type: "partial_tool_call_output" }>): string {
  switch (payload.type) {
    case "text":
    case "partial_text":
      return payload.text;
    case "thinking":
    case "partial_thinking":
      return payload.thinking;
    default:
      return payload.arguments;
  }
}

function emptyComplete(payload: Exclude<PartialPayload, { type: "partial_tool_call_output" }>): Streamed {
  switch (payload.type) {
    case "partial_text":
      return { type: "text", role: "assistant", text: "" };
    case "partial_thinking":
      return { type: "thinking", role: "assistant", thinking: "" };
    default:
      return {
        type: "tool_call",
        role: "assistant",
        name: payload.name,
        arguments: "",
        tool_call_id: payload.tool_call_id,
      };
  }
}

function fragmentOf(
  head: Streamed,
  event: "start" | "delta" | "stop",
  content: string,
  reason: StopReason | undefined = event === "stop" ? head.stop_reason : undefined,
): OmniMessage<PartialPayload> {
  const common = { role: "assistant", event_type: event, ...(reason && { stop_reason: reason }) } as const;
  switch (head.type) {
    case "text":
      return modelMessage({ type: "partial_text", ...common, text: content });
    case "thinking":
      return modelMessage({ type: "partial_thinking", ...common, thinking: content });
    default:
      return modelMessage({
        type: "partial_tool_call",
        ...common,
        name: event === "start" ? head.name : "",
        arguments: content,
        tool_call_id: head.tool_call_id,
      });
  }
}

function completeOf({ head, pieces }: Segment, reason: StopReason | undefined): OmniMessage<Streamed> {
  return withContent(modelMessage({ ...head, ...(reason && { stop_reason: reason }) }), pieces.join(""));
}

function withContent(message: OmniMessage<Streamed>, content: string): OmniMessage<Streamed> {
  const { payload } = message;
  switch (payload.type) {
    case "text":
      return { ...message, payload: { ...payload, text: content } };
    case "thinking":
      return { ...message, payload: { ...payload, thinking: content } };
    default:
      return { ...message, payload: { ...payload, arguments: content } };
  }
}

function closing(segment: Segment, reason: StopReason): OmniMessage[] {
  return [fragmentOf(segment.head, "stop", "", reason), completeOf(segment, reason)];
}
