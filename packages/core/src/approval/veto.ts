import type { ApprovalContext, Veto } from "./contract.ts";
import { denyingRule } from "./match-rules.ts";
import { type CommandPolicy, forbiddingRule } from "./policy/command-policy.ts";
import { type ApprovalRule, ruleText } from "./rule.ts";

/** What forbids calls to every host, whoever would allow them. */
export interface CallRestrictions {
  /** Absent: the factory rules. */
  readonly policy?: CommandPolicy;
  /** Of these, those that deny. */
  readonly rules: readonly ApprovalRule[];
}

/** Asks the command policy, then the deny rules; absent where neither forbids the call. */
export function vetoOf(
  { policy, rules }: CallRestrictions,
  tool: string,
  { commandText, paths, workspace }: ApprovalContext,
): Veto | undefined {
  const forbidding = commandText === undefined ? undefined : forbiddingRule(policy, commandText);
  if (forbidding) {
    const { name, description } = forbidding;
    return { decidedBy: "policy", reason: description === undefined ? name : `${name} (${description})` };
  }
  const call = { tool, workspace, ...(commandText !== undefined && { commandText }), ...(paths && { paths }) };
  const denying = denyingRule(rules, call);
  return denying && { decidedBy: "rule", reason: ruleText(denying) };
}
