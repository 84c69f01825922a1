import { isCompleteModelMessage, isPartialPayload } from "./guards.ts";
import type { CompletePayload, OmniMessage, PartialPayload, StopReason } from "./message.ts";

/**
 * Joins the fragments of a stream into the complete messages they stand for.
 *
 * Every segment comes out once: as the complete message that its producer sends after the stop, which also carries
 * fidelity and details, or, where none follows, as the message joined from its fragments. That is why a stop alone
 * returns nothing: the joined message is returned with whatever shows that no other follows it, or by `flush`.
 *
 * Segments are told apart by session (`origin`), kind and `tool_call_id`. A fragment without a start opens its segment;
 * a second start ends the one before, without a stop reason. Everything that is no fragment is returned as it came.
 */
export class PartialAggregator {
  readonly #open = new Map<string, Segment>();
  readonly #stopped = new Map<string, Segment>();

  /** @returns The messages that are complete now, in order. */
  push(message: OmniMessage): OmniMessage[] {
    const { payload } = message;
    if (isPartialPayload(payload)) return this.#add({ ...message, payload });
    if (isCompleteModelMessage(message)) {
      const key = segmentKey(message, message.payload);
      this.#open.delete(key);
      this.#stopped.delete(key);
    }
    return [...this.#release(message), message];
  }

  /** Ends the stream: what was stopped is joined, and what is still open is closed with the stop reason `aborted`. */
  flush(): OmniMessage[] {
    const stopped = [...this.#stopped.values()].map((segment) => joined(segment));
    const open = [...this.#open.values()].map((segment) => joined(segment, "aborted"));
    this.#stopped.clear();
    this.#open.clear();
    return [...stopped, ...open];
  }

  #add(fragment: Fragment): OmniMessage[] {
    const key = segmentKey(fragment, fragment.payload);
    const ready = this.#release(fragment);
    const before = this.#open.get(key);
    const restarted = before !== undefined && fragment.payload.event_type === "start";
    if (restarted) ready.push(joined(before));
    const segment = extended(restarted ? undefined : before, fragment);
    this.#open.set(key, segment);
    if (fragment.payload.event_type === "stop") {
      this.#open.delete(key);
      this.#stopped.set(key, segment);
    }
    return ready;
  }

  /**
   * Joins the stopped segments whose complete message can no longer follow. Producers speak at the same time, so what
   * another one says does not decide that; a later message of the same producer does, and so does any event but the
   * progress of a tool.
   */
  #release(next: OmniMessage): OmniMessage[] {
    const ready: OmniMessage[] = [];
    for (const [key, segment] of this.#stopped) {
      if (!supersedes(next, segment.last)) continue;
      this.#stopped.delete(key);
      ready.push(joined(segment));
    }
    return ready;
  }
}

/** The complete messages of a finished or broken-off stream; see {@link PartialAggregator}. */
export function aggregateAll(messages: Iterable<OmniMessage>): OmniMessage[] {
  const aggregator = new PartialAggregator();
  const complete: OmniMessage[] = [];
  for (const message of messages) complete.push(...aggregator.push(message));
  return complete.concat(aggregator.flush());
}

type Fragment = OmniMessage<PartialPayload>;

interface Segment {
  /** What the fragments said, to be joined once. */
  readonly pieces: string[];
  readonly images: string[];
  /** Of a tool call; empty until a fragment tells it. */
  name: string;
  last: Fragment;
}

function extended(before: Segment | undefined, fragment: Fragment): Segment {
  const segment = before ?? { pieces: [], images: [], name: "", last: fragment };
  const { payload } = fragment;
  segment.last = fragment;
  segment.pieces.push(content(payload));
  if (payload.type === "partial_tool_call") segment.name ||= payload.name;
  if (payload.type === "partial_tool_call_output") segment.images.push(...(payload.images ?? []));
  return segment;
}

function content(payload: PartialPayload): string {
  switch (payload.type) {
    case "partial_text":
      return payload.text;
    case "partial_thinking":
      return payload.thinking;
    case "partial_tool_call":
      return payload.arguments;
    case "partial_tool_call_output":
      return payload.output;
  }
}

function joined(segment: Segment, stopReason?: StopReason): OmniMessage {
  const stop_reason = stopReason ?? segment.last.payload.stop_reason;
  return { ...segment.last, payload: { ...joinedPayload(segment), ...(stop_reason && { stop_reason }) } };
}

function joinedPayload({ last: { payload }, pieces, images, name }: Segment): CompletePayload {
  const text = pieces.join("");
  switch (payload.type) {
    case "partial_text":
      return { type: "text", role: "assistant", text };
    case "partial_thinking":
      return { type: "thinking", role: "assistant", thinking: text };
    case "partial_tool_call":
      return { type: "tool_call", role: "assistant", name, arguments: text, tool_call_id: payload.tool_call_id };
    case "partial_tool_call_output":
      return {
        type: "tool_call_output",
        role: "user",
        output: text,
        tool_call_id: payload.tool_call_id,
        ...(images.length > 0 && { images }),
      };
  }
}

/** Equal for a fragment and the complete message of its segment; what a user says is the end of no segment. */
function segmentKey(message: OmniMessage, payload: CompletePayload | PartialPayload): string {
  const id = "tool_call_id" in payload ? payload.tool_call_id : "";
  return JSON.stringify([message.origin ?? [], payload.type.replace("partial_", ""), payload.role, id]);
}

function supersedes(next: OmniMessage, stopped: Fragment): boolean {
  if (JSON.stringify(next.origin) !== JSON.stringify(stopped.origin)) return false;
  if (next.type === "model_msg") return producer(next) === producer(stopped);
  return next.payload.type !== "tool_progress";
}

/** The model, or the tool call that an output belongs to. */
function producer({ payload }: OmniMessage): string {
  if (payload.type !== "partial_tool_call_output" && payload.type !== "tool_call_output") return "model";
  return `call ${payload.tool_call_id}`;
}
