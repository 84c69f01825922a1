import type { ApproveFn } from "../approval/contract.ts";
import type { ThinkingLevelName } from "../llm/contract.ts";
import type { EventPayload, TokenCounts } from "../omnimessage/message.ts";
import { addTokens, NO_TOKENS } from "../omnimessage/token-counts.ts";
import type { DeliveryMode, UndeliveredInput } from "./input-queue.ts";

/** What a caller gives one run (PC-080 to PC-083). */
export interface RunOptions {
  /** Interrupts the run; with a `TimeoutError` as its reason the run counts as timed out. */
  readonly signal?: AbortSignal;
  /** Decides each call; absent: every call is denied. */
  readonly approve?: ApproveFn;
  /** For every request of this run and no later one. */
  readonly thinkingLevel?: ThinkingLevelName;
  /**
   * The run ends as `budget` before the request that would come after so much has been spent, in USD; absent: no limit. One
   * whose costs turn out not to be known ends so too.
   */
  readonly maxCostUsd?: number;
  /** How much of what `session.steer` was given a request brings; default `all`. */
  readonly steering?: DeliveryMode;
  /** The same of `session.followUp`; default `all`. */
  readonly followUps?: DeliveryMode;
  /** The input is an objective that is worked on, round after round, until it is reached; see {@link GoalOptions}. */
  readonly goal?: GoalOptions;
  /** Whether the run is told what has ended in the background; default `deliver`. What is held waits for a later run. */
  readonly backgroundNotices?: "deliver" | "hold";
}

/** How far a goal may go; `maxCostUsd` of the run holds for all of it. */
export interface GoalOptions {
  /** In tokens that did not come from a cache, over all requests; absent: no limit. */
  readonly budgetTokens?: number;
  /** Default 100; zero or less: no limit. */
  readonly maxRounds?: number;
}

/** What became of a goal. */
export type GoalResult = Omit<EventPayload<"goal_finished">, "type">;

/** Why a run did not complete, in a form programs can switch on. */
export type RunCode =
  | "max-turns"
  | "output-length"
  | "approval-unanswered"
  | "budget"
  | "goal-blocked"
  | "context-overflow"
  | "provider-refused"
  | "retries-exhausted";

/** What requests took, together. */
export interface Spending {
  /** Committed requests, without those for summaries. */
  readonly turns: number;
  /** Over all of them. */
  readonly usage: TokenCounts;
  /** In USD; absent when that of any of them is not known. */
  readonly cost_usd?: number;
}

/** How a run ended: the return value of `session.run`. */
export interface RunOutcome extends Spending {
  readonly status: "completed" | "failed" | "aborted" | "timeout" | "auth";
  readonly code?: RunCode;
  /** What went wrong, for a person. */
  readonly message?: string;
  /** The text of the last reply that was committed. */
  readonly text: string;
  /** Calls that were refused, in order. */
  readonly denied: readonly { readonly tool: string; readonly reason: string }[];
  /** What was given to `session.steer` and `session.followUp` and has not reached the model; absent: nothing. */
  readonly undelivered?: UndeliveredInput;
  /** Of a run with a goal. */
  readonly goal?: GoalResult;
}

/** Why a task goes no further: the part of an outcome that the last turn decides. */
export type TaskEnd = Pick<RunOutcome, "status" | "code" | "message">;

export const NO_SPENDING: Spending = { turns: 0, usage: NO_TOKENS };

export function addSpending(a: Spending, b: Spending): Spending {
  if (isNothing(a)) return b;
  if (isNothing(b)) return a;
  const isKnown = a.cost_usd !== undefined && b.cost_usd !== undefined;
  return {
    turns: a.turns + b.turns,
    usage: addTokens(a.usage, b.usage),
    ...(isKnown && { cost_usd: Number((a.cost_usd + b.cost_usd).toFixed(COST_DECIMALS)) }),
  };
}

function isNothing({ turns, usage }: Spending): boolean {
  return turns === 0 && usage.total === 0;
}

/** Beyond these there is only the dust of binary fractions. */
const COST_DECIMALS = 12;
