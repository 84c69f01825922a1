import type { ThinkingLevelName } from "../../contract.ts";
import type { Traits } from "./model-traits.ts";

interface ThinkingConfig extends Record<string, string | number | boolean> {
  /** Whether the thinking can be read. */
  readonly includeThoughts: boolean;
}

/** How a model is told to think; `undefined` for one that is told nothing. */
export function thinkingConfig(level: ThinkingLevelName | undefined, traits: Traits): ThinkingConfig | undefined {
  if (traits.thinking === "none") return undefined;
  if (level === undefined) return traits.thinksByDefault ? { includeThoughts: true } : undefined;
  const field = traits.thinking === "level" ? "thinkingLevel" : "thinkingBudget";
  const amount =
    level === "none" ? traits.least : traits.thinking === "level" ? levelOf(level, traits) : budgetOf(level, traits);
  return { includeThoughts: level !== "none", ...(amount !== undefined && { [field]: amount }) };
}

type Thinking = Exclude<ThinkingLevelName, "none">;

function levelOf(level: Thinking, traits: Traits): string {
  return level === "xhigh" || (level === "medium" && !traits.medium) ? "high" : level;
}

function budgetOf(level: Thinking, traits: Traits): number {
  return Math.min(BUDGETS[level], traits.maxBudget);
}

/** In tokens. */
const BUDGETS = { low: 2048, medium: 8192, high: 24_576, xhigh: 32_768 } as const satisfies Record<Thinking, number>;
