import { isCompleteModelMessage, isEventMessage, isPartialPayload } from "../../omnimessage/guards.ts";
import type {
  CompletePayload,
  EventPayload,
  OmniMessage,
  PartialPayload,
  StopReason,
} from "../../omnimessage/message.ts";
import { place, type Report, type RuleChecker, type RuleScope } from "./rule.ts";

/** Rule 1: start, deltas, stop, complete; the joined deltas equal the complete message; nothing unclosed leaks. */
export class SegmentRules implements RuleChecker {
  readonly #report: Report;
  readonly #scope: RuleScope;
  readonly #open = new Map<string, Segment>();
  /** By producer: what it stopped and has to complete next. */
  readonly #stopped = new Map<string, Segment>();
  readonly #refusedCalls = new Set<string>();
  #inRequest = false;
  #aborted = false;

  constructor(report: Report, scope: RuleScope) {
    this.#report = report;
    this.#scope = scope;
  }

  see(message: OmniMessage, at: number): void {
    const { payload } = message;
    if (!this.#scope.trace) this.#checkNotAborted(payload.type, at);
    if (isPartialPayload(payload)) this.#seeFragment(payload, at);
    else if (isCompleteModelMessage(message)) this.#seeComplete(message.payload, at);
    else if (isEventMessage(message)) this.#seeEvent(message.payload, at);
  }

  end(): void {
    for (const segment of this.#open.values()) this.#report(1, segment.at, `${segment.name} is never stopped`);
    for (const segment of this.#stopped.values()) {
      this.#report(1, segment.at, `${segment.name} is stopped and has no complete message`);
    }
  }

  #checkNotAborted(type: string | undefined, at: number): void {
    if (!this.#aborted || type === "goal_finished") return;
    // A child session can be given a further task within one run of its parent.
    if (this.#scope.child && BEGINS_A_RUN.has(type ?? "")) this.#aborted = false;
    else this.#report(1, at, `${type} comes after abort, the last message of a run`);
  }

  #seeFragment(payload: PartialPayload, at: number): void {
    const name = segmentName(payload);
    const producer = producerOf(payload);
    this.#checkCompleted(producer, payload.type, at);
    if (payload.event_type === "start") this.#start(payload, at);
    const segment = this.#open.get(name);
    if (segment === undefined) {
      this.#report(1, at, `a ${payload.event_type} of ${name} without a start`);
      return;
    }
    segment.pieces.push(contentOf(payload));
    if (payload.type === "partial_tool_call_output") segment.images.push(...(payload.images ?? []));
    if (payload.event_type !== "stop") return;
    this.#open.delete(name);
    this.#stopped.set(producer, { ...segment, at, stopReason: payload.stop_reason });
  }

  #start(payload: PartialPayload, at: number): void {
    const name = segmentName(payload);
    const producer = producerOf(payload);
    if (this.#open.has(name)) this.#report(1, at, `${name} starts again before its stop`);
    // The fragments of several calls may be mixed; text and thinking stand alone.
    const isCall = payload.type === "partial_tool_call";
    const beside = [...this.#open.values()].find(
      (open) => open.producer === producer && open.name !== name && !isCall && open.start.type !== "partial_tool_call",
    );
    if (beside !== undefined) this.#report(1, at, `${name} starts while ${beside.name} is open`);
    this.#open.set(name, { name, producer, at, start: payload, stopReason: undefined, pieces: [], images: [] });
  }

  #seeComplete(payload: CompletePayload, at: number): void {
    if (payload.role === "user" && payload.type !== "tool_call_output") return;
    const name = segmentName(payload);
    const producer = producerOf(payload);
    const stopped = this.#stopped.get(producer);
    if (stopped?.name === name) {
      this.#stopped.delete(producer);
      this.#compare(stopped, payload, at);
    } else if (stopped !== undefined) this.#checkCompleted(producer, payload.type, at);
    else if (this.#open.has(name)) this.#report(1, at, `${name} is complete before its stop`);
    else if (this.#mustStream(payload)) this.#report(1, at, `${name} came whole, without start and stop`);
  }

  #compare(segment: Segment, payload: CompletePayload, at: number): void {
    const deltas = segment.pieces.join("");
    const whole = contentOf(payload);
    const wrong = (what: string): void => this.#report(1, at, `${segment.name}: ${what}`);
    if (deltas !== whole) wrong(`the joined deltas differ from the complete message ${difference(deltas, whole)}`);
    const { start, stopReason } = segment;
    const startName = start.type === "partial_tool_call" ? start.name : "";
    if (payload.type === "tool_call" && startName !== "" && startName !== payload.name) {
      wrong(`it starts as "${startName}" and is complete as "${payload.name}"`);
    }
    const images = payload.type === "tool_call_output" ? (payload.images ?? []) : [];
    if (JSON.stringify(segment.images) !== JSON.stringify(images)) {
      wrong("the images of the deltas are not those of the complete message");
    }
    if (stopReason !== undefined && payload.stop_reason !== undefined && stopReason !== payload.stop_reason) {
      wrong(`it stops as ${stopReason} and is complete as ${payload.stop_reason}`);
    }
  }

  /** What a model or a tool says is streamed. Outputs that stand in for a tool's are not: of refused and of cut-off calls. */
  #mustStream(payload: CompletePayload): boolean {
    if (this.#scope.trace) return false;
    if (payload.type === "tool_call_output") {
      return payload.stop_reason !== "aborted" && !this.#refusedCalls.has(payload.tool_call_id);
    }
    return this.#inRequest && contentOf(payload) !== "";
  }

  #seeEvent(payload: EventPayload, at: number): void {
    if (payload.type === "approval_decision" && payload.decision !== "allow") {
      this.#refusedCalls.add(payload.tool_call_id);
    }
    if (payload.type === "request_begin") this.#inRequest = true;
    if (payload.type === "request_end") this.#inRequest = false;
    const endsReply =
      payload.type === "request_end" || (payload.type === "token_usage" && payload.source === undefined);
    if (endsReply) this.#checkClosed(payload.type, at, (segment) => segment.producer === MODEL);
    if (payload.type !== "abort") return;
    this.#checkClosed(payload.type, at, () => true);
    this.#open.clear();
    this.#aborted = true;
  }

  #checkClosed(what: string, at: number, concerns: (segment: Segment) => boolean): void {
    for (const segment of this.#open.values()) {
      if (concerns(segment)) this.#report(1, at, `${what} comes while ${segment.name} is open`);
    }
    for (const segment of this.#stopped.values()) {
      if (concerns(segment)) this.#checkCompleted(segment.producer, what, at);
    }
  }

  #checkCompleted(producer: string, what: string, at: number): void {
    const segment = this.#stopped.get(producer);
    if (segment === undefined) return;
    this.#stopped.delete(producer);
    const stop = place(segment.at);
    this.#report(1, at, `${what} comes before the complete message of ${segment.name}, which stopped at ${stop}`);
  }
}

interface Segment {
  readonly name: string;
  readonly producer: string;
  /** The place of the start, or of the stop once it stopped. */
  readonly at: number;
  readonly start: PartialPayload;
  readonly stopReason: StopReason | undefined;
  readonly pieces: string[];
  readonly images: string[];
}

const MODEL = "the model";

const BEGINS_A_RUN: ReadonlySet<string> = new Set([
  "mcp_connect_begin",
  "tool_list_ready",
  "compaction_begin",
  "request_begin",
]);

/** Who has to complete a segment before it says anything else: the model, or one call's tool. */
function producerOf(payload: CompletePayload | PartialPayload): string {
  return payload.type.endsWith("tool_call_output") ? segmentName(payload) : MODEL;
}

function segmentName(payload: CompletePayload | PartialPayload): string {
  const type = payload.type.replace("partial_", "");
  return "tool_call_id" in payload ? `${type} ${payload.tool_call_id}` : type;
}

function contentOf(payload: CompletePayload | PartialPayload): string {
  switch (payload.type) {
    case "text":
    case "partial_text":
      return payload.text;
    case "thinking":
    case "partial_thinking":
      return payload.thinking;
    case "tool_call":
    case "partial_tool_call":
      return payload.arguments;
    case "tool_call_output":
    case "partial_tool_call_output":
      return payload.output;
    default:
      return "";
  }
}

function difference(deltas: string, whole: string): string {
  let from = 0;
  while (from < deltas.length && deltas[from] === whole[from]) from += 1;
  const part = (text: string): string => JSON.stringify(text.slice(from, from + 20));
  return `from character ${from} on: ${part(deltas)} and ${part(whole)}`;
}
