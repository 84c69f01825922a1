/** What a wait comes to whose signal fired first. */
export const INTERRUPTED: unique symbol = Symbol("interrupted");

/** The value, or `INTERRUPTED` once the signal fires if that comes first; a late failure is nobody's. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | typeof INTERRUPTED> {
  if (signal.aborted) {
    work.catch(() => undefined);
    return Promise.resolve(INTERRUPTED);
  }
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(INTERRUPTED);
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** True when a signal fired because time ran out, as `AbortSignal.timeout` says it. */
export function isTimeout(signal: AbortSignal): boolean {
  return signal.aborted && (signal.reason as { name?: unknown } | undefined)?.name === "TimeoutError";
}

/**
 * Waits for others who should stop when a signal fires, and leaves them behind if they have not some time later.
 *
 * One instance serves any number of waits, one at a time, at the same small cost each.
 */
export class Patience {
  readonly #signal: AbortSignal;
  readonly #graceMs: number;
  #timer: NodeJS.Timeout | undefined;
  #exhausted = false;
  #giveUp: (() => void) | undefined;

  constructor(signal: AbortSignal, graceMs: number) {
    this.#signal = signal;
    this.#graceMs = graceMs;
    if (signal.aborted) this.#begin();
    else signal.addEventListener("abort", this.#begin, { once: true });
  }

  /** The value, or `INTERRUPTED` when patience ran out first; a late failure is nobody's. */
  waitFor<T>(work: Promise<T>): Promise<T | typeof INTERRUPTED> {
    if (this.#exhausted) {
      work.catch(() => undefined);
      return Promise.resolve(INTERRUPTED);
    }
    return new Promise((resolve, reject) => {
      this.#giveUp = () => resolve(INTERRUPTED);
      work.then(resolve, reject);
    });
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#begin);
  }

  readonly #begin = (): void => {
    this.#timer = setTimeout(() => {
      this.#exhausted = true;
      this.#giveUp?.();
    }, this.#graceMs);
  };
}
