/**
 * Call ids of which each names one call in a whole prompt: servers that name calls by their function, and counters that
 * start anew with each reply, use one several times.
 */
export class DistinctCallIds {
  readonly #taken = new Set<string>();
  readonly #lastNumbers = new Map<string, number>();
  #ofReply = new Map<string, string>();

  /** The calls that follow are those of another reply. */
  nextReply(): void {
    this.#ofReply = new Map();
  }

  /** The id for a call of this reply. */
  distinct(id: string): string {
    let candidate = id;
    for (let n = this.#lastNumbers.get(id) ?? 1; this.#taken.has(candidate); ) {
      n += 1;
      candidate = `${id.slice(0, MAX_CHARACTERS - String(n).length - 1)}_${n}`;
      this.#lastNumbers.set(id, n);
    }
    this.#taken.add(candidate);
    this.#ofReply.set(id, candidate);
    return candidate;
  }

  /** The id that a call of this reply was given. */
  current(id: string): string {
    return this.#ofReply.get(id) ?? id;
  }
}

/** The longest `call_id` the service takes. */
export const MAX_CHARACTERS = 64;
