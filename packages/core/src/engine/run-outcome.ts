import type { ApproveFn } from "../approval/contract.ts";
import type { ThinkingLevelName } from "../llm/contract.ts";
import type { TokenCounts } from "../omnimessage/message.ts";

/** What a caller gives one run (PC-080 to PC-083). */
export interface RunOptions {
  /** Interrupts the run; with a `TimeoutError` as its reason the run counts as timed out. */
  readonly signal?: AbortSignal;
  /** Decides each call; absent: every call is denied. */
  readonly approve?: ApproveFn;
  /** For every request of this run and no later one. */
  readonly thinkingLevel?: ThinkingLevelName;
}

/** Why a run did not complete, in a form programs can switch on. */
export type RunCode =
  | "max-turns"
  | "output-length"
  | "approval-unanswered"
  | "context-overflow"
  | "provider-refused"
  | "retries-exhausted";

/** How a run ended: the return value of `session.run`. */
export interface RunOutcome {
  readonly status: "completed" | "failed" | "aborted" | "timeout" | "auth";
  readonly code?: RunCode;
  /** What went wrong, for a person. */
  readonly message?: string;
  /** The text of the last reply that was committed. */
  readonly text: string;
  /** Committed requests. */
  readonly turns: number;
  /** Over all requests of this run. */
  readonly usage: TokenCounts;
  /** Calls that were refused, in order. */
  readonly denied: readonly { readonly tool: string; readonly reason: string }[];
}

/** Why a task goes no further: the part of an outcome that the last turn decides. */
export type TaskEnd = Pick<RunOutcome, "status" | "code" | "message">;

export const NO_TOKENS: TokenCounts = { cache_read: 0, cache_write: 0, output: 0, total: 0 };

export function addTokens(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
    output: a.output + b.output,
    total: a.total + b.total,
  };
}
