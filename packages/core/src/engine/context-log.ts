import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { isCommit, nextInput } from "./next-input.ts";

/**
 * The tail of the record that the next request depends on: everything since the last committed request began. It stays
 * as small as one turn, however long the session is.
 */
export class ContextLog {
  #records: OmniMessage[];
  #requestBegan = 0;

  /** @param records - The tail of a session that goes on; empty for a new one. */
  constructor(records: readonly OmniMessage[] = []) {
    this.#records = [...records];
  }

  /** Takes note of a recorded message. */
  add(message: OmniMessage): void {
    if (isType(message, "request_begin")) this.#requestBegan = this.#records.length;
    this.#records.push(message);
    if (isCommit(message)) {
      this.#records = this.#records.slice(this.#requestBegan);
      this.#requestBegan = 0;
    }
  }

  /** The input of the next request; see `nextInput`. */
  nextInput(): OmniMessage[] {
    return nextInput(this.#records);
  }
}
