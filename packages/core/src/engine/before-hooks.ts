import type { CallAssessment } from "../approval/contract.ts";
import { errorText } from "../errors/error-text.ts";
import type { OmniMessage, ToolCallPayload } from "../omnimessage/message.ts";
import type { Run, ToolSide } from "./engine.ts";
import { beforeHooks } from "./hooks.ts";
import { INTERRUPTED, unlessAborted } from "./interruption.ts";

/** A call after the `beforeToolCall` hooks have seen it. */
export interface HookedOutcome {
  /** With a hook's arguments, where one replaced them. */
  readonly toolCall: OmniMessage<ToolCallPayload>;
  /** The arguments of the last hook that replaced them, as JSON. */
  readonly replaced?: string;
  /** Why a hook blocks the call. */
  readonly blocked?: string;
}

/** Shows a call to every hook in order, each seeing the arguments that the one before it left. */
export async function applyBeforeHooks(
  tools: ToolSide,
  run: Run,
  toolCall: OmniMessage<ToolCallPayload>,
  assessment: CallAssessment,
): Promise<HookedOutcome> {
  let outcome: HookedOutcome = { toolCall };
  let args = assessment.args ?? {};
  for (const hook of beforeHooks(tools.hooks)) {
    const { payload } = outcome.toolCall;
    try {
      const verdict = await unlessAborted(
        Promise.resolve().then(() => hook({ toolCall: payload, args }, run.signal)),
        run.signal,
      );
      if (verdict === INTERRUPTED) return outcome;
      if (verdict && "block" in verdict) return { ...outcome, blocked: verdict.reason ?? "a hook refused it" };
      if (!verdict) continue;
      const replaced = JSON.stringify(verdict.args);
      if (replaced === undefined) throw new TypeError("it answered with neither block nor args");
      outcome = { toolCall: { ...toolCall, payload: { ...toolCall.payload, arguments: replaced } }, replaced };
      args = verdict.args;
    } catch (error) {
      return { ...outcome, blocked: `the hook failed: ${errorText(error)}` };
    }
  }
  return outcome;
}
