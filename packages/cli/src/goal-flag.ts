import { type GoalOptions, RookeryError } from "@rookery/core";
import { readDecimal } from "./flags.ts";

/**
 * What `--goal [BUDGET]` says. The value may be left out, so that the word behind the flag is a budget only if it looks
 * like one; else it is the prompt.
 *
 * @param value - `true` without one; absent without the flag.
 * @param argument - The prompt, where there is one beside it.
 * @throws {RookeryError} `usage` for what is neither.
 */
export function readGoal(
  value: string | true | undefined,
  argument: string | undefined,
): { readonly goal?: GoalOptions; readonly prompt?: string } {
  if (value === undefined) return {};
  if (value === true) return { goal: {} };
  const budgetTokens = readTokens(value);
  if (budgetTokens > 0 && budgetTokens <= MAX_TOKENS) return { goal: { budgetTokens } };
  const isPrompt = argument === undefined && /^[^-+.\d]|\s/.test(value);
  if (isPrompt) return { goal: {}, prompt: value };
  throw new RookeryError("usage", `--goal takes a budget in tokens, got ${JSON.stringify(value)}`, {
    hint: "write it as in --goal=200k or --goal=1.5m, or leave it out for no limit",
  });
}

const MAX_TOKENS = 1e12;

/** `20000`, `200k`, `1.5m`; anything else is NaN. */
function readTokens(text: string): number {
  const [, number = "", unit = ""] = /^([\d.]+)([km]?)$/i.exec(text) ?? [];
  return Math.round(readDecimal(number) * { "": 1, k: 1000, m: 1_000_000 }[unit.toLowerCase() as "" | "k" | "m"]);
}
