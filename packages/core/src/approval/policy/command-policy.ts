import { type Context, createContext, Script } from "node:vm";
import { errorText } from "../../errors/error-text.ts";
import { FACTORY_RULES } from "./factory-rules.ts";

/** A command that nobody may run, as a pattern. */
export interface PolicyRule {
  readonly name: string;
  /** A regular expression of JavaScript, without slashes; compared without case. */
  readonly pattern: string;
  readonly description?: string;
  /** Default `true`. */
  readonly enabled?: boolean;
}

/** A guard against accidents, no boundary: a command can be written in ways that no pattern foresees. */
export interface CommandPolicy {
  /** Default `true`. */
  readonly enabled?: boolean;
  /** Absent: the factory rules; an empty list: none. */
  readonly rules?: readonly PolicyRule[];
}

/** The rules of a policy that are in force, in order. */
export function policyRules({ enabled = true, rules = FACTORY_RULES }: CommandPolicy = {}): readonly PolicyRule[] {
  return enabled ? rules.filter((rule) => rule.enabled !== false) : [];
}

/**
 * The first rule in force that a command line meets.
 *
 * It is compared with blanks collapsed, as it is and without quotes and backslashes. When that takes longer than a second in
 * all, the pattern at which it stands counts as met, so that none can be kept from deciding.
 */
export function forbiddingRule(policy: CommandPolicy | undefined, commandText: string): PolicyRule | undefined {
  const rules = policyRules(policy);
  const texts = new Set([commandText, commandText.replaceAll(/["'\\]/g, "")].map(collapsed));
  if (commandText.length <= MAX_UNWATCHED_CHARS && rules.every((rule) => FACTORY_PATTERNS.has(rule))) {
    return rules.find((rule) => [...texts].some((text) => FACTORY_PATTERNS.get(rule)?.test(text)));
  }
  const at = firstMet(
    rules.map(({ pattern }) => pattern),
    [...texts],
  );
  return at === undefined ? undefined : rules[at];
}

/** Why a pattern cannot be one; absent for a good one. */
export function patternProblem(pattern: string): string | undefined {
  try {
    new RegExp(pattern, FLAGS);
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

const FLAGS = "i";
const FACTORY_PATTERNS: ReadonlyMap<PolicyRule, RegExp> = new Map(
  FACTORY_RULES.map((rule) => [rule, new RegExp(rule.pattern, FLAGS)]),
);
/** So long a text those read in milliseconds, whatever it holds: to watch the time would cost more. */
const MAX_UNWATCHED_CHARS = 1000;
const MAX_MATCH_MS = 1000;
// One run for all patterns: to watch the time of one costs fifty times what it does.
const search = new Script(`(() => {
  for (at = 0; at < patterns.length; at++) {
    const pattern = new RegExp(patterns[at], flags);
    for (const text of texts) if (pattern.test(text)) return true;
  }
  return false;
})()`);
let context: Context | undefined;

/** Lines stay apart, since a newline ends a command. */
function collapsed(text: string): string {
  return text
    .replaceAll("\\\n", " ")
    .replaceAll(/[^\S\n]+/g, " ")
    .replaceAll(/ ?\n[\n ]*/g, "\n")
    .trim();
}

/** The place of the first pattern that one of the texts meets, or that cannot be tried or takes too long. */
function firstMet(patterns: readonly string[], texts: readonly string[]): number | undefined {
  context ??= createContext(Object.create(null));
  Object.assign(context, { patterns, texts, flags: FLAGS, at: 0 });
  try {
    return search.runInContext(context, { timeout: MAX_MATCH_MS }) === true ? context.at : undefined;
  } catch {
    return context.at;
  }
}
