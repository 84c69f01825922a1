/** Resolves to `undefined` once the signal fires, or to the value if that comes first; a late failure is nobody's. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) {
    work.catch(() => undefined);
    return Promise.resolve(undefined);
  }
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined);
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

  /** The value, or `undefined` when patience ran out first; a late failure is nobody's. */
  waitFor<T>(work: Promise<T>): Promise<T | undefined> {
    if (this.#exhausted) {
      work.catch(() => undefined);
      return Promise.resolve(undefined);
    }
    return new Promise((resolve, reject) => {
      this.#giveUp = () => resolve(undefined);
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
