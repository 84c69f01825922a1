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
 * It is compared with blanks collapsed, as it is and without quotes and backslashes. A pattern that takes longer than a
 * second counts as met, so that none can be kept from deciding.
 */
export function forbiddingRule(policy: CommandPolicy | undefined, commandText: string): PolicyRule | undefined {
  const texts = [commandText, commandText.replaceAll(/["'\\]/g, "")].map(collapsed);
  return policyRules(policy).find(({ pattern }) => texts.some((text) => meets(pattern, text)));
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
const MAX_MATCH_MS = 1000;
const search = new Script("new RegExp(pattern, flags).test(text)");
let context: Context | undefined;

/** Lines stay apart, since a newline ends a command. */
function collapsed(text: string): string {
  return text
    .replaceAll("\\\n", " ")
    .replaceAll(/[^\S\n]+/g, " ")
    .replaceAll(/ ?\n[\n ]*/g, "\n")
    .trim();
}

function meets(pattern: string, text: string): boolean {
  context ??= createContext(Object.create(null));
  Object.assign(context, { pattern, flags: FLAGS, text });
  try {
    return search.runInContext(context, { timeout: MAX_MATCH_MS }) === true;
  } catch {
    return true;
  }
}
