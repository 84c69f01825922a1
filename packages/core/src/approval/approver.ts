import { errorText } from "../errors/error-text.ts";
import type { ApprovalMode, ApproveFn } from "./contract.ts";

/**
 * Makes the `ApproveFn` of one approval mode, the way terminal and server decide (PT-173 to PT-177, PC-109).
 *
 * A call marked `error` is allowed without asking anyone, since it does not run and the model has to read why; only
 * `deny-all` denies it too. An `ask` that throws is a denial.
 *
 * @param ask - Puts a call to a person. Absent: what the mode leaves to a person is denied, decided by `default`.
 */
export function approver({ mode, ask }: { mode: ApprovalMode; ask?: ApproveFn }): ApproveFn {
  return async (toolCall, context) => {
    if (mode === "deny-all") {
      return { decision: "deny", decidedBy: "mode", reason: "the mode deny-all denies every call" };
    }
    const allowed = mode === "allow-all" || (mode === "read-only" && context.permission === "r");
    if (allowed || context.error !== undefined) return { decision: "allow", decidedBy: "mode" };
    if (ask === undefined) return { decision: "deny", decidedBy: "default", reason: "nobody can answer" };
    try {
      return await ask(toolCall, context);
    } catch (error) {
      return { decision: "deny", decidedBy: "default", reason: `the question failed: ${errorText(error)}` };
    }
  };
}
