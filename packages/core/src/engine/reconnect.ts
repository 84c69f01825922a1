import type { LLMOutcome } from "../llm/contract.ts";

/** Reconnects after the first attempt of a request. */
export const MAX_RECONNECTS = 5;
/** The longest wait that a provider can ask for; a longer one ends the turn. */
export const MAX_RETRY_AFTER_MS = 60_000;
const BASE_DELAY_MS = 2_000;
const MAX_DELAY_MS = 30_000;
/** Waits differ by up to this share, so that many sessions do not come back at one moment. */
const JITTER = 0.2;

/**
 * How long to wait before the next attempt: what the provider asked for, else 2 s doubling to 30 s, with jitter.
 *
 * @param attempt - The attempt that failed, counted from 1.
 * @param random - Uniform in [0, 1).
 */
export function reconnectDelayMs(
  attempt: number,
  outcome: Pick<LLMOutcome, "retryAfterMs">,
  random: () => number = Math.random,
): number {
  if (outcome.retryAfterMs !== undefined) return outcome.retryAfterMs;
  const delayMs = Math.min(BASE_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS);
  return Math.min(Math.round(delayMs * (1 + JITTER * (2 * random() - 1))), MAX_DELAY_MS);
}

/** Waits between attempts; at most one wait at a time, which can be cut short from outside. */
export class Reconnector {
  #skip: (() => void) | undefined;

  /** Resolves after the time, on `skip`, and when the signal fires. */
  async wait(delayMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        this.#skip = undefined;
        resolve();
      };
      const timer = setTimeout(end, delayMs);
      signal.addEventListener("abort", end, { once: true });
      this.#skip = end;
    });
  }

  /** Ends the current wait; false when nothing waits. */
  skip(): boolean {
    const waiting = this.#skip !== undefined;
    this.#skip?.();
    return waiting;
  }
}
