import type { SharedV3ProviderOptions } from "@ai-sdk/provider";
import type { ThinkingLevelName } from "../../contract.ts";
import type { ModelTraits } from "./model-traits.ts";

/** How hard to think, and the limit that goes with it: the package adds the budget of the thinking to it. */
export interface ThinkingOptions {
  readonly maxOutputTokens: number;
  readonly anthropic: SharedV3ProviderOptions[string];
}

/**
 * A level in the terms of a model. Without a level the model does as it does by default.
 *
 * A budget is part of the limit and leaves half of it, or 4096 tokens, to the answer. The service takes no budget under
 * 1024 tokens, so that a limit of less than twice as many is raised.
 *
 * @param maxTokens - The most tokens of the reply, its thinking included.
 */
export function thinkingOptions(
  level: ThinkingLevelName | undefined,
  traits: ModelTraits,
  maxTokens: number,
): ThinkingOptions {
  if (level === undefined || level === "none" || traits.thinking !== "budget") {
    return { maxOutputTokens: maxTokens, anthropic: withoutBudget(level, traits) };
  }
  const answerTokens = Math.min(MIN_ANSWER_TOKENS, Math.ceil(maxTokens / 2));
  const budgetTokens = Math.max(MIN_BUDGET_TOKENS, Math.min(BUDGET_TOKENS[level], maxTokens - answerTokens));
  return {
    maxOutputTokens: Math.max(maxTokens - budgetTokens, answerTokens),
    anthropic: { thinking: { type: "enabled", budgetTokens } },
  };
}

function withoutBudget(level: ThinkingLevelName | undefined, traits: ModelTraits): SharedV3ProviderOptions[string] {
  const binding = traits.bindsThinking ? { blockBinding: { prefixMismatchBehavior: "drop_block" } } : {};
  const byDefault = traits.bindsThinking ? { thinking: { type: "adaptive", ...binding } } : {};
  if (level === undefined || traits.thinking === "none") return byDefault;
  if (level === "none")
    return traits.least === "low" ? { ...byDefault, effort: "low" } : { thinking: { type: traits.least } };
  const display = traits.omitsThinking ? { display: "summarized" } : {};
  return {
    thinking: { type: "adaptive", ...display, ...binding },
    effort: level === "xhigh" && !traits.xhigh ? "high" : level,
  };
}

const MIN_BUDGET_TOKENS = 1024;
const MIN_ANSWER_TOKENS = 4096;
const BUDGET_TOKENS = {
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_000,
} as const satisfies Record<Exclude<ThinkingLevelName, "none">, number>;
