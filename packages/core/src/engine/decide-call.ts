import type { ApprovalAnswer, ApprovalContext, CallAssessment } from "../approval/contract.ts";
import type { ToolExecutionRequest } from "../environment/contract.ts";
import { errorText } from "../errors/error-text.ts";
import { eventMessage } from "../omnimessage/build.ts";
import type { EventPayload, OmniMessage, StopReason, ToolCallPayload } from "../omnimessage/message.ts";
import { assessCall } from "./assess-call.ts";
import type { Run, ToolSide } from "./engine.ts";
import { beforeHooks } from "./hooks.ts";
import { unlessAborted } from "./interruption.ts";

/** What was decided about one call, and what follows from it. */
export interface CallDecision {
  readonly event: EventPayload<"approval_decision">;
  /** The call as it will run; its arguments are a hook's where one replaced them. */
  readonly request: ToolExecutionRequest & { readonly assessment: CallAssessment };
  /** Set on a call that does not run: the whole of its output. */
  readonly refusal?: { readonly output: string; readonly stop_reason: StopReason };
}

/** The text of a call's output that a person, a mode or nobody denied; the reason goes on a line of its own. */
export const DENIED_OUTPUT = "Tool call denied by user.";

/**
 * Decides on one call: `beforeToolCall` hooks first, then the run's ApproveFn, once. An interruption meanwhile counts as
 * deny.
 *
 * @param assessment - What the call would do, as it was given; assessed again for arguments that a hook replaces.
 */
export async function decideCall(
  tools: ToolSide,
  run: Run,
  toolCall: OmniMessage<ToolCallPayload>,
  assessment: CallAssessment,
): Promise<CallDecision> {
  let request = { toolCall, assessment };
  let replaced: string | undefined;
  const decide = (
    decision: "allow" | "deny",
    decidedBy: EventPayload<"approval_decision">["decided_by"],
    reason: string | undefined,
    refusal: CallDecision["refusal"],
  ): CallDecision => ({
    event: {
      type: "approval_decision",
      tool_call_id: toolCall.payload.tool_call_id,
      decision,
      ...(decidedBy && { decided_by: decidedBy }),
      ...(reason !== undefined && { reason }),
      ...(replaced !== undefined && { arguments: replaced }),
    },
    request: replaced === undefined ? request : { ...request, args: request.assessment.args ?? {} },
    ...(refusal && { refusal }),
  });

  for (const hook of beforeHooks(tools.hooks)) {
    const { payload } = request.toolCall;
    const verdict = await unlessAborted(
      Promise.resolve()
        .then(() => hook({ toolCall: payload, args: request.assessment.args ?? {} }, run.signal))
        .catch((error) => ({ block: true as const, reason: `the hook failed: ${errorText(error)}` })),
      run.signal,
    );
    if (run.signal.aborted) break;
    if (verdict && "block" in verdict) {
      const output = `Tool call blocked: ${verdict.reason ?? "a hook refused it"}`;
      return decide("deny", "hook", verdict.reason, { output, stop_reason: "failed" });
    }
    if (verdict) {
      replaced = JSON.stringify(verdict.args);
      const changed = { ...toolCall, payload: { ...toolCall.payload, arguments: replaced } };
      request = { toolCall: changed, assessment: await assessCall(tools, changed) };
    }
  }

  const answer = await askApprover(tools, run, request.toolCall, request.assessment);
  if (answer.decision === "deny") {
    const output = answer.reason ? `${DENIED_OUTPUT}\nReason: ${answer.reason}` : DENIED_OUTPUT;
    return decide("deny", answer.decidedBy ?? "user", answer.reason, { output, stop_reason: "aborted" });
  }
  const { error } = request.assessment;
  return decide(
    "allow",
    answer.decidedBy ?? "user",
    answer.reason,
    error === undefined ? undefined : { output: error, stop_reason: "failed" },
  );
}

/** Asks the run's ApproveFn; without one, on a throw and on an interruption the answer is deny. */
async function askApprover(
  tools: ToolSide,
  run: Run,
  toolCall: OmniMessage<ToolCallPayload>,
  assessment: CallAssessment,
): Promise<ApprovalAnswer> {
  if (run.signal.aborted) return { decision: "deny", reason: "the run was interrupted" };
  const { approve } = run;
  if (!approve) return { decision: "deny", decidedBy: "default", reason: "no approval callback was given" };
  const context = approvalContext(tools, assessment);
  await run.emit(
    eventMessage({
      type: "approval_request",
      tool_call_id: toolCall.payload.tool_call_id,
      summary: context.summary,
      risk: context.risk,
      permission: context.permission,
      workspace: context.workspace,
    }),
  );
  try {
    const answer = await unlessAborted(
      Promise.resolve().then(() => approve(toolCall, context)),
      run.signal,
    );
    if (answer === undefined) return { decision: "deny", reason: "the run was interrupted" };
    const full = typeof answer === "string" ? { decision: answer } : answer;
    return full.decision === "allow" ? full : { ...full, decision: "deny" };
  } catch (error) {
    tools.onWarning({ code: "approval-failed", message: `the approval callback failed: ${errorText(error)}` });
    return { decision: "deny", reason: "the approval callback failed" };
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
