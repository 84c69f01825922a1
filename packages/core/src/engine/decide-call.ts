import type { ApprovalAnswer, ApprovalContext, CallAssessment } from "../approval/contract.ts";
import type { OnWarning } from "../environment/contract.ts";
import { errorText } from "../errors/error-text.ts";
import { eventMessage } from "../omnimessage/build.ts";
import type { EventPayload, OmniMessage, ToolCallPayload } from "../omnimessage/message.ts";
import type { HookedOutcome } from "./before-hooks.ts";
import type { Run, ToolSide } from "./engine.ts";
import { INTERRUPTED, unlessAborted } from "./interruption.ts";

/** What was decided about one call, and what follows from it. */
export interface CallDecision {
  readonly event: EventPayload<"approval_decision">;
  /** Set on a call that does not run: the whole of its output. */
  readonly refusal?: { readonly output: string; readonly stopReason: "failed" | "aborted" };
  /** Nobody was there to answer. */
  readonly unanswered?: true;
}

/** The text of a call's output that a person, a mode or nobody denied; the reason goes on a line of its own. */
const DENIED_OUTPUT = "Tool call denied by user.";
/** The same of one that the command policy or a deny rule forbids; the rule goes on a line of its own. */
const FORBIDDEN_OUTPUT = "Tool call forbidden by policy.";

/**
 * Decides on one call: a hook's veto first, the command policy's and a deny rule's next, then the run's ApproveFn, once.
 * Without one, on a throw and on an interruption the answer is deny.
 */
export async function decideCall(
  tools: ToolSide,
  run: Run,
  hooked: HookedOutcome,
  assessment: CallAssessment,
): Promise<CallDecision> {
  const { toolCall, replaced, blocked } = hooked;
  const decided = {
    type: "approval_decision",
    tool_call_id: toolCall.payload.tool_call_id,
    ...(replaced !== undefined && { arguments: replaced }),
  } as const;
  if (blocked !== undefined) {
    const event = { ...decided, decision: "deny", decided_by: "hook", reason: blocked } as const;
    return { event, refusal: { output: `Tool call blocked: ${blocked}`, stopReason: "failed" } };
  }
  const context = approvalContext(tools, assessment);
  const veto = tools.veto(toolCall.payload.name, context);
  if (veto) {
    const event = { ...decided, decision: "forbidden", decided_by: veto.decidedBy, reason: veto.reason } as const;
    return { event, refusal: { output: `${FORBIDDEN_OUTPUT}\nRule: ${veto.reason}`, stopReason: "aborted" } };
  }
  const answer = await ask(run, toolCall, context, tools.onWarning);
  const { decision, decidedBy = "user", reason } = answer;
  const event = { ...decided, decision, decided_by: decidedBy, ...(reason !== undefined && { reason }) };
  if (decision === "deny") {
    const output = reason ? `${DENIED_OUTPUT}\nReason: ${reason}` : DENIED_OUTPUT;
    return { event, refusal: { output, stopReason: "aborted" }, ...(answer.unanswered && { unanswered: true }) };
  }
  const { error } = assessment;
  return error === undefined ? { event } : { event, refusal: { output: error, stopReason: "failed" } };
}

/** A decision of the engine's own, when nobody can be asked any more. */
const interrupted: ApprovalAnswer = {
  decision: "deny",
  decidedBy: "default",
  reason: "it was interrupted before it was decided",
};

async function ask(
  run: Run,
  toolCall: OmniMessage<ToolCallPayload>,
  context: ApprovalContext,
  onWarning: OnWarning,
): Promise<ApprovalAnswer & { unanswered?: boolean }> {
  if (run.signal.aborted) return interrupted;
  const { approve } = run;
  if (!approve) return { decision: "deny", decidedBy: "default", reason: "no approval callback was given" };
  const { summary, risk, permission, workspace } = context;
  const { tool_call_id } = toolCall.payload;
  await run.emit(eventMessage({ type: "approval_request", tool_call_id, summary, risk, permission, workspace }));
  try {
    const answer = await unlessAborted(
      Promise.resolve().then(() => approve(toolCall, context)),
      run.signal,
    );
    if (answer === INTERRUPTED) return interrupted;
    const full = typeof answer === "string" ? { decision: answer } : answer;
    if (full?.decision === "allow") return full;
    if (full?.decision === "deny") return { ...full, unanswered: full.decidedBy === "default" };
    return { decision: "deny", decidedBy: "default", reason: "the approval callback gave no decision" };
  } catch (error) {
    onWarning({ code: "approval-failed", message: `the approval callback failed: ${errorText(error)}` });
    return { decision: "deny", decidedBy: "default", reason: "the approval callback failed" };
  }
}

function approvalContext(tools: ToolSide, assessment: CallAssessment): ApprovalContext {
  return {
    summary: assessment.summary,
    risk: assessment.risk,
    permission: assessment.risk === "read_only" ? "r" : "rw",
    workspace: tools.workspaceDir,
    ...(assessment.commandText !== undefined && { commandText: assessment.commandText }),
    ...(assessment.paths && { paths: assessment.paths }),
    ...(assessment.error !== undefined && { error: assessment.error }),
  };
}
