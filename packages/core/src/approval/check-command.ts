import { readCommand } from "./command/read-command.ts";
import type { ApprovalContext } from "./contract.ts";
import { allowingRules } from "./match-rules.ts";
import { ruleText } from "./rule.ts";
import { type CallRestrictions, vetoOf } from "./veto.ts";

/** What becomes of a command before anyone is asked. */
export interface CommandVerdict {
  readonly decision: "allow" | "deny" | "ask";
  /** Absent for `ask`, which is left to the mode. */
  readonly decidedBy?: "policy" | "rule";
  /** The rules that decide; for `ask` why none does. */
  readonly reason: string;
}

/**
 * Decides on a command line as policy and rules would for a call in a workspace; runs nothing.
 *
 * @param tool - Whose rules count too; absent: only rules about commands do.
 */
export function checkCommand(
  restrictions: CallRestrictions,
  commandText: string,
  { workspace, tool = "" }: { readonly workspace: string; readonly tool?: string },
): CommandVerdict {
  const context: ApprovalContext = { summary: commandText, risk: "process", permission: "rw", workspace, commandText };
  const veto = vetoOf(restrictions, tool, context);
  if (veto) return { decision: "deny", ...veto };
  const allowing = allowingRules(restrictions.rules, { tool, workspace, commandText });
  if (allowing) return { decision: "allow", decidedBy: "rule", reason: allowing.map(ruleText).join("; ") };
  const { unreadable } = readCommand(commandText);
  const reason = unreadable === undefined ? "no rule covers all of it" : `no rule can allow it: ${unreadable}`;
  return { decision: "ask", reason };
}
