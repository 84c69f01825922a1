import { eventMessage, userText } from "../omnimessage/build.ts";
import { isCompleteModelMessage, isType } from "../omnimessage/guards.ts";
import type { EventPayload, OmniMessage } from "../omnimessage/message.ts";
import { isContextSummary, NO_SUMMARY } from "./compaction/summary-text.ts";
import { isCommit, nextInput } from "./next-input.ts";
import { isOverflow, repeatedInput } from "./repeated-input.ts";

/**
 * What the record says of one model context: what the model has been sent and said, and what its next request must bring.
 *
 * Fed with every record, by a live session as it writes and by a resumed one as it reads, so that both send the same.
 */
export class ContextLog {
  #history: OmniMessage[];
  #opening: readonly OmniMessage[];
  /** Since the last committed request began. */
  #tail: OmniMessage[] = [];
  #requestBegan = 0;
  /** Calls that have no output yet. */
  #awaited = new Set<string>();
  #request: { readonly input: readonly OmniMessage[]; readonly reply: OmniMessage[] } | undefined;
  #compaction: CompactionSpan | undefined;
  #turns = 0;
  #tokens = 0;
  #firstTokens = 0;
  /** It goes on from a summary. */
  readonly isSummarised: boolean;

  /** @param carried - What the context starts with; see `splitCarried`. */
  constructor(carried: readonly OmniMessage[] = []) {
    const { history, opening } = splitCarried(carried);
    this.#history = [...history];
    this.#opening = opening;
    this.isSummarised = carried[0] !== undefined && isSummary(carried[0]);
  }

  /** Takes note of a recorded message. */
  add(message: OmniMessage): void {
    if (isType(message, "compaction_begin")) this.#beginCompaction(message.payload);
    else if (isType(message, "compaction_end")) this.#endCompaction(message.payload.status === "completed");
    else if (this.#isExpected(message)) this.#follow(withoutDetails(message));
  }

  /** The messages of committed requests, in the order in which the model knows them. */
  get history(): readonly OmniMessage[] {
    return this.#history;
  }

  /** The records since the last committed request began. */
  get tail(): readonly OmniMessage[] {
    return this.#tail;
  }

  /** Committed requests of this context. */
  get turns(): number {
    return this.#turns;
  }

  /** What the last committed request took, with its reply; 0 when none said. */
  get tokens(): number {
    return this.#tokens;
  }

  /** The same of the first committed request. */
  get firstTokens(): number {
    return this.#firstTokens;
  }

  /** One that has begun and not ended. */
  get compaction(): EventPayload<"compaction_begin"> | undefined {
    return this.#compaction?.begin;
  }

  /** The input of the next request; see `nextInput`. */
  nextInput(): OmniMessage[] {
    const isOver = this.#tail.some((message) => isType(message, "abort"));
    const didNotFit = this.#tail.some(isOverflow);
    const again = (message: OmniMessage): OmniMessage =>
      isSummary(message) ? message : repeatedInput(message, didNotFit);
    return [...(isOver ? this.#opening.map(again) : this.#opening), ...nextInput(this.#tail)];
  }

  /** Every output is, but for one that nobody called for or that came before: a record may hold what no history can. */
  #isExpected({ payload }: OmniMessage): boolean {
    if (payload.type === "tool_call") this.#awaited.add(payload.tool_call_id);
    return payload.type !== "tool_call_output" || this.#awaited.delete(payload.tool_call_id);
  }

  #follow(message: OmniMessage): void {
    const isReply = isReplyPart(message);
    // The record of a request's beginning may be lost; without one its reply would count as that of the one before.
    if (isType(message, "request_begin")) this.#beginRequest(message);
    else {
      if ((isReply || isType(message, "request_end")) && !this.#request) {
        this.#beginRequest(eventMessage({ type: "request_begin" }));
      }
      this.#tail.push(message);
    }
    if (isReply) this.#request?.reply.push(message);
    if (isType(message, "token_usage") && message.payload.source === undefined && !this.#compaction) {
      this.#tokens = message.payload.request.total || this.#tokens;
      this.#firstTokens ||= this.#tokens;
    }
    if (!isType(message, "request_end")) return;
    if (isCommit(message)) this.#commit();
    this.#request = undefined;
  }

  #beginRequest(message: OmniMessage): void {
    this.#request = { input: this.nextInput(), reply: [] };
    this.#requestBegan = this.#tail.length;
    this.#tail.push(message);
  }

  #commit(): void {
    const { input = [], reply = [] } = this.#request ?? {};
    if (this.#history.length + input.length === 0) this.#history.push(lostBeginning());
    for (const message of input) this.#history.push(message);
    for (const message of reply) this.#history.push(message);
    this.#opening = [];
    this.#tail = this.#tail.slice(this.#requestBegan);
    this.#requestBegan = 0;
    if (this.#compaction) this.#compaction.hasCommitted = true;
    else this.#turns += 1;
  }

  #beginCompaction(begin: EventPayload<"compaction_begin">): void {
    const { length } = this.#history;
    this.#compaction = { begin, hasCommitted: false, length, tail: [...this.#tail], opening: this.#opening };
  }

  /**
   * A compaction that succeeded is followed by another context; where that one was never written, nothing has happened. Of
   * one that failed the model keeps what it was sent and said, if it was this model and a request of it was committed; that
   * reply answers what the task goes on with, and a request needs something new.
   */
  #endCompaction(completed: boolean): void {
    const span = this.#compaction;
    this.#compaction = undefined;
    this.#request = undefined;
    if (!span) return;
    if (!completed && span.begin.model === undefined && span.hasCommitted) {
      const committed = this.#tail.findLastIndex(isCommit);
      const kept = this.#tail.filter((message, at) => at <= committed || isType(message, "tool_call_output"));
      this.#tail = [...kept, userText(NO_SUMMARY, "harness")];
      return;
    }
    this.#history.length = span.length;
    this.#tail = span.tail;
    this.#opening = span.opening;
    this.#requestBegan = 0;
  }
}

/** Where a context stood when its compaction began. */
interface CompactionSpan {
  readonly begin: EventPayload<"compaction_begin">;
  hasCommitted: boolean;
  readonly length: number;
  readonly tail: OmniMessage[];
  readonly opening: readonly OmniMessage[];
}

/**
 * What a context is carried over with, as history and as the beginning of its first request: a request needs something
 * new, so whatever follows the model's last word is said again with it.
 */
export function splitCarried(carried: readonly OmniMessage[]): {
  readonly history: readonly OmniMessage[];
  readonly opening: readonly OmniMessage[];
} {
  const end = carried.findLastIndex(({ payload }) => (payload as { role?: string }).role === "assistant") + 1;
  return { history: carried.slice(0, end), opening: carried.slice(end) };
}

/** What stands where the record of the first thing said is damaged: no service takes a conversation that the model begins. */
export function lostBeginning(): OmniMessage {
  return userText("[the record of how this conversation began is damaged]", "harness");
}

function isSummary(message: OmniMessage): boolean {
  return isType(message, "text") && isContextSummary(message.payload.text);
}

function isReplyPart(message: OmniMessage): boolean {
  return isCompleteModelMessage(message) && message.payload.role === "assistant";
}

/** What is for people and programs is never sent, and may be many times as long as what is. */
export function withoutDetails(message: OmniMessage): OmniMessage {
  if (!isType(message, "tool_call_output") || message.payload.details === undefined) return message;
  const { details: _, ...payload } = message.payload;
  return { ...message, payload };
}
