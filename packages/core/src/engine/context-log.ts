import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { isCommit, nextInput } from "./next-input.ts";

/**
 * The tail of the record that the next request depends on: everything since the last committed request began. It stays
 * as small as one turn, however long the session is.
 */
export class ContextLog {
  #records: OmniMessage[] = [];
  #requestBegan = 0;
  #opening: readonly OmniMessage[];

  /** @param opening - What the first request of this context says before anything that is recorded; see `splitCarried`. */
  constructor(opening: readonly OmniMessage[] = []) {
    this.#opening = opening;
  }

  /** Takes note of a recorded message. */
  add(message: OmniMessage): void {
    if (isType(message, "request_begin")) this.#requestBegan = this.#records.length;
    this.#records.push(message);
    if (isCommit(message)) {
      this.#opening = [];
      this.#records = this.#records.slice(this.#requestBegan);
      this.#requestBegan = 0;
    }
  }

  /** The input of the next request; see `nextInput`. */
  nextInput(): OmniMessage[] {
    return [...this.#opening, ...nextInput(this.#records)];
  }

  /** The records since the last committed request began. */
  get tail(): readonly OmniMessage[] {
    return this.#records;
  }
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
