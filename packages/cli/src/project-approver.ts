import { type Agent, type ApprovalMode, type ApproveFn, approver, errorText } from "@rookery/core";
import type { Io } from "./io.ts";
import type { ApprovalPrompt } from "./prompt-approval.ts";
import { notice } from "./report-error.ts";

/** Decides by the project's rules, the mode and the person, whose lasting answers become rules of the project. */
export async function projectApprover(
  agent: Agent,
  mode: ApprovalMode,
  person: ApprovalPrompt | undefined,
  io: Io,
): Promise<ApproveFn> {
  return approver({
    mode,
    rules: await agent.rules(),
    ...(person && { ask: person.ask }),
    remember: (rules) =>
      agent.addRules(rules).catch((error: unknown) => {
        notice(io, `the answer holds for this run only, since it cannot be stored: ${errorText(error)}`);
      }),
  });
}
