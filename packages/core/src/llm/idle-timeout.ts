import type { ReadableStreamReadResult } from "node:stream/web";

/** Why waiting for the provider ended before it answered. */
export class Interruption extends Error {
  readonly status: "aborted" | "timeout";

  constructor(status: "aborted" | "timeout") {
    super(status);
    this.name = "Interruption";
    this.status = status;
  }
}

/**
 * Waits for one provider on behalf of one request, until it answers, the user aborts, or it was silent for too long.
 *
 * Only time inside `wait` counts: a consumer that takes its time between two waits never makes a request time out. What
 * was waited for may ignore the abort; it is abandoned then.
 */
export class IdleWatch {
  readonly #upstream = new AbortController();
  readonly #user: AbortSignal | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #onAbort = (): void => this.#interrupt?.(new Interruption("aborted"));
  #interrupt: ((interruption: Interruption) => void) | undefined;
  #timed = false;

  /** @param timeoutMs - The longest wait without a sign of life; zero or less: none. */
  constructor(user: AbortSignal | undefined, timeoutMs: number) {
    this.#user = user;
    user?.addEventListener("abort", this.#onAbort);
    if (timeoutMs > 0) {
      const silent = (): void => {
        if (this.#timed) this.#interrupt?.(new Interruption("timeout"));
      };
      this.#timer = setTimeout(silent, Math.min(timeoutMs, MAX_TIMER_MS));
    }
  }

  /** Aborted by `stop`; for the request itself. */
  get signal(): AbortSignal {
    return this.#upstream.signal;
  }

  /**
   * Settles as `pending` does, unless it is interrupted first.
   *
   * @param timed - False for what is not the provider's to answer: only the user ends such a wait.
   * @throws {Interruption} The user aborted, before or while waiting, or the time ran out.
   */
  wait<T>(pending: PromiseLike<T>, timed = true): Promise<T> {
    this.#timed = timed;
    this.#timer?.refresh();
    return new Promise((resolve, reject) => {
      this.#interrupt = reject;
      pending.then(resolve, reject);
      if (this.#user?.aborted) reject(new Interruption("aborted"));
    });
  }

  /** The provider gave a sign of life, though not yet what is waited for: the time starts anew. */
  refresh(): void {
    this.#timer?.refresh();
  }

  /** Tells the provider to stop. */
  stop(): void {
    this.#upstream.abort();
  }

  /** Lets go of timer and signal. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#user?.removeEventListener("abort", this.#onAbort);
  }
}

/** Reads a provider's stream under a watch, and can still collect what had arrived when the watch was interrupted. */
export class WatchedReader<T> {
  readonly #reader: ReadableStreamDefaultReader<T>;
  readonly #watch: IdleWatch;
  #pending: Promise<ReadableStreamReadResult<T>> | undefined;

  constructor(stream: ReadableStream<T>, watch: IdleWatch) {
    this.#reader = stream.getReader();
    this.#watch = watch;
  }

  /** @throws {Interruption} As {@link IdleWatch.wait}; otherwise whatever breaks the stream. */
  next(): Promise<ReadableStreamReadResult<T>> {
    this.#pending = this.#reader.read();
    return this.#watch.wait(this.#pending);
  }

  /**
   * Stops the provider and collects what it still delivers at once: a reply that had come to its end is then known as
   * complete, although the interruption fell into the wait for its last bytes.
   */
  async rest(): Promise<T[]> {
    this.#watch.stop();
    const parts: T[] = [];
    const patience = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), PATIENCE_MS));
    for (;;) {
      const reading = (this.#pending ?? this.#reader.read()).catch(() => undefined);
      this.#pending = undefined;
      const step = await Promise.race([reading, patience]);
      if (!step || step.done) return parts;
      parts.push(step.value);
    }
  }

  /** Lets go of the stream, whatever state it is in; does not wait for it. */
  abandon(): void {
    this.#reader.cancel().catch(() => undefined);
  }
}

const MAX_TIMER_MS = 2 ** 31 - 1;
/** How long an interrupted provider may take to hand over what it already has. */
const PATIENCE_MS = 50;
