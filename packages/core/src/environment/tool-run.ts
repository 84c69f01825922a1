import { setMaxListeners } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Why a call was stopped from outside; the user ranks above the time-out (PT-033). */
export type StopCause = "aborted" | "timeout";

/** How a tool came to its end. It does not change any more: a signal that fires later is too late. */
export type ToolEnding = { readonly stopped: StopCause | undefined } & (
  | { readonly kind: "returned"; readonly result: unknown }
  | { readonly kind: "threw"; readonly error: unknown }
  /** It ignored its signal for the whole grace and was left behind. */
  | { readonly kind: "abandoned" }
);

type Step = { readonly value: unknown } | { readonly ending: ToolEnding };
type Tool = (signal: AbortSignal) => AsyncIterator<unknown, unknown>;

export interface ToolRunLimits {
  /** The caller's. */
  readonly signal: AbortSignal | undefined;
  /** `undefined`: none. */
  readonly timeoutMs: number | undefined;
  /** How long a tool may go on after its signal has fired. */
  readonly graceMs: number;
}

/** The longest delay a timer takes; longer ones would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** A tool that yields without ever waiting must not keep timers and signals from firing. */
const MAX_MS_WITHOUT_PAUSE = 50;

/**
 * One execution of a tool under a signal that merges the caller's with the time-out (PT-022, PT-031).
 *
 * Call `next` until it answers with an ending, then or earlier `dispose`. A tool that goes on after its signal has fired
 * is abandoned when its grace is over: what it yields, returns or throws later is ignored.
 */
export class ToolRun {
  readonly #start: Tool;
  readonly #limits: ToolRunLimits;
  readonly #controller = new AbortController();
  readonly #interrupt = (): void => this.#stop(this.#limits.signal?.reason);
  #tool: AsyncIterator<unknown, unknown> | undefined;
  #timeout: NodeJS.Timeout | undefined;
  /** How long the tool may still take; only time in which it is waited for counts. */
  #remainingMs: number;
  #waitingSinceMs: number | undefined;
  #grace: NodeJS.Timeout | undefined;
  #timedOut = false;
  #isAbandoned = false;
  #answer: ((step: Step) => void) | undefined;
  #lastPauseMs: number = performance.now();

  constructor(start: Tool, limits: ToolRunLimits) {
    this.#start = start;
    this.#limits = limits;
    if (limits.signal) {
      // Any number of calls share the signal of one run: that is no leak, and Node must not print that it is.
      setMaxListeners(0, limits.signal);
      limits.signal.addEventListener("abort", this.#interrupt, { once: true });
    }
    this.#remainingMs = limits.timeoutMs ?? Number.POSITIVE_INFINITY;
  }

  /** What the tool yields next, or how it ended. Never rejects. */
  async next(): Promise<Step> {
    if (performance.now() - this.#lastPauseMs > MAX_MS_WITHOUT_PAUSE) {
      await nextTurn();
      this.#lastPauseMs = performance.now();
    }
    if (this.#isAbandoned) return { ending: { stopped: this.#stopped(), kind: "abandoned" } };
    this.#startClock();
    const step = await new Promise<Step>((resolve) => {
      this.#answer = resolve;
      void this.#pull().then(resolve);
    });
    this.#stopClock();
    return step;
  }

  /** Takes timers and listeners away and ends a tool that still runs. */
  dispose(): void {
    clearTimeout(this.#timeout);
    clearTimeout(this.#grace);
    this.#limits.signal?.removeEventListener("abort", this.#interrupt);
    if (this.#tool === undefined) return;
    this.#controller.abort();
    void endQuietly(this.#tool);
  }

  async #pull(): Promise<Step> {
    try {
      this.#tool ??= begin(this.#start, this.#controller.signal);
      const step = await this.#tool.next();
      if (!step.done) return { value: step.value };
      this.#tool = undefined;
      return { ending: { stopped: this.#stopped(), kind: "returned", result: step.value } };
    } catch (error) {
      this.#tool = undefined;
      return { ending: { stopped: this.#stopped(), kind: "threw", error } };
    }
  }

  #stopped(): StopCause | undefined {
    if (this.#limits.signal?.aborted) return "aborted";
    return this.#timedOut ? "timeout" : undefined;
  }

  #startClock(): void {
    this.#waitingSinceMs = performance.now();
    if (this.#remainingMs === Number.POSITIVE_INFINITY || this.#timedOut) return;
    if (this.#remainingMs <= 0) this.#onTimeout();
    else this.#timeout ??= setTimeout(() => this.#onTimer(), Math.min(this.#remainingMs, MAX_TIMER_MS));
  }

  #stopClock(): void {
    this.#remainingMs -= performance.now() - (this.#waitingSinceMs ?? 0);
    this.#waitingSinceMs = undefined;
  }

  /** The timer runs on while a reader takes its time, so it may come early: then it is set for what is left. */
  #onTimer(): void {
    this.#timeout = undefined;
    if (this.#waitingSinceMs === undefined) return;
    const leftMs = this.#remainingMs - (performance.now() - this.#waitingSinceMs);
    if (leftMs > 0) this.#timeout = setTimeout(() => this.#onTimer(), Math.min(Math.ceil(leftMs), MAX_TIMER_MS));
    else this.#onTimeout();
  }

  #onTimeout(): void {
    this.#timedOut = true;
    this.#stop(new DOMException("the call reached its time-out", "TimeoutError"));
  }

  #stop(reason: unknown): void {
    this.#controller.abort(reason);
    this.#grace ??= setTimeout(() => this.#abandon(), this.#limits.graceMs);
  }

  #abandon(): void {
    this.#isAbandoned = true;
    this.#answer?.({ ending: { stopped: this.#stopped(), kind: "abandoned" } });
  }
}

function begin(start: Tool, signal: AbortSignal): AsyncIterator<unknown, unknown> {
  const tool = start(signal) as Partial<AsyncIterator<unknown, unknown>> | undefined;
  if (typeof tool?.next !== "function") throw new TypeError("its execute did not return an async generator");
  return tool as AsyncIterator<unknown, unknown>;
}

/** Lets a generator run its `finally`, when it comes to it. */
async function endQuietly(tool: AsyncIterator<unknown, unknown>): Promise<void> {
  try {
    await tool.return?.();
  } catch {
    // It was told to end; how it takes that concerns nobody any more.
  }
}
