import type { Spending, TaskEnd } from "./run-outcome.ts";

/** What a task may take at most; `undefined`: no limit. */
export interface RunLimits {
  /** Requests that are committed. */
  readonly maxTurns: number | undefined;
  readonly maxCostUsd: number | undefined;
}

/** How a task ends that may make no further request; absent while it may. */
export function limitReached({ turns, cost_usd: cost }: Spending, limits: RunLimits): TaskEnd | undefined {
  const { maxTurns, maxCostUsd } = limits;
  if (maxTurns !== undefined && turns >= maxTurns) {
    const message = `the task reached its limit of ${maxTurns} ${maxTurns === 1 ? "turn" : "turns"}`;
    return { status: "failed", code: "max-turns", message };
  }
  if (maxCostUsd === undefined) return undefined;
  if (turns > 0 && cost === undefined) {
    const message = `what the task has cost is not known, so that its limit of ${usd(maxCostUsd)} cannot be kept`;
    return { status: "failed", code: "budget", message };
  }
  // Written so that a limit that is no number ends the task too.
  if ((cost ?? 0) < maxCostUsd) return undefined;
  const message = `the task has cost ${usd(cost ?? 0)}, and its limit is ${usd(maxCostUsd)}`;
  return { status: "failed", code: "budget", message };
}

function usd(amount: number): string {
  return `$${amount.toLocaleString("en", { maximumSignificantDigits: 6, useGrouping: false })}`;
}
