import { limitReached } from "../run-limits.ts";
import type { Spending, TaskEnd } from "../run-outcome.ts";

/** What a goal may take over all its rounds; `undefined`: no limit. */
export interface GoalBudget {
  /** Without those that came from a cache. */
  readonly tokens: number | undefined;
  readonly costUsd: number | undefined;
}

/** How a goal ends that has taken so much; absent while there is something left. */
export function budgetSpent(budget: GoalBudget, tokens: number, spent: Spending): TaskEnd | undefined {
  // Written so that a limit that is no number ends the goal too.
  if (budget.tokens !== undefined && !(tokens < budget.tokens)) {
    const message = `the goal has taken ${count(tokens)} tokens, and its budget is ${count(budget.tokens)}`;
    return { status: "failed", code: "budget", message };
  }
  return limitReached(spent, { maxTurns: undefined, maxCostUsd: budget.costUsd });
}

/** What is left, as the model reads it. */
export function budgetLine(budget: GoalBudget, tokens: number, { cost_usd: cost = 0 }: Spending): string {
  const { tokens: most, costUsd } = budget;
  const left = most === undefined ? "no limit" : `${count(Math.max(most - tokens, 0))} of ${count(most)} are left`;
  const money = costUsd === undefined ? "" : `; $${cost.toFixed(4)} of $${costUsd} are spent`;
  return `${count(tokens)} tokens are used, ${left}${money}.`;
}

function count(number: number): string {
  return number.toLocaleString("en");
}
