import { isDeepStrictEqual } from "node:util";
import type { ApproveFn } from "../../approval/contract.ts";
import type { Hooks } from "../../engine/hooks.ts";
import type { ToolCallPayload } from "../../omnimessage/message.ts";
import type { RecordedCall } from "./recording.ts";
import type { Move } from "./relocate.ts";
import { strayPath } from "./stray-path.ts";

export interface RecordedApprovalOptions {
  /** Where the session was recorded: a call that leads there is denied. */
  readonly move: Move;
  /** The recorded run ended because nobody answered; else a denial without an answer lets the run go on. */
  readonly isUnanswered: boolean;
  /** Asked about what the record allowed; its denial holds. */
  readonly restrict?: ApproveFn | undefined;
}

/**
 * Decides as the record did. A call that it does not hold, that it holds with other arguments, or that was never decided,
 * is denied: nothing runs that was not allowed once, and nothing where it was recorded.
 */
export function recordedApproval(
  calls: readonly RecordedCall[],
  { move, isUnanswered, restrict }: RecordedApprovalOptions,
): ApproveFn {
  return async (toolCall, context) => {
    const sameId = calls.filter(({ call }) => call.tool_call_id === toolCall.payload.tool_call_id);
    const decision = sameId.find((recorded) => isDecisionOn(recorded, toolCall.payload))?.decision;
    if (decision === undefined) {
      const isKnown = sameId.some((recorded) => recorded.decision !== undefined);
      return { decision: "deny", decidedBy: "default", reason: isKnown ? OTHER_ARGUMENTS : NOT_DECIDED };
    }
    const { decided_by: by, reason } = decision;
    // Only an engine speaks for a policy or a hook, and for nobody without ending the run.
    const isEngine = by === "policy" || by === "hook" || (by === "default" && !isUnanswered);
    const decidedBy = isEngine ? "rule" : by;
    const answer = { ...(decidedBy && { decidedBy }), ...(reason !== undefined && { reason }) };
    if (decision.decision !== "allow") return { ...answer, decision: "deny" };
    const stray = await strayPath(toolCall.payload, context.paths ?? {}, move);
    if (stray !== undefined) return { decision: "deny", decidedBy: "rule", reason: strayReason(stray, move) };
    return (await restricted(restrict, toolCall, context)) ?? { ...answer, decision: "allow" };
  };
}

/** Blocks the calls that a hook blocked, and replaces the arguments that one replaced. */
export function recordedHooks(calls: () => readonly RecordedCall[]): Hooks {
  return {
    async beforeToolCall({ toolCall, args }) {
      const decision = calls().find(({ call }) => isSameCall(call, toolCall))?.decision;
      if (decision?.decided_by === "hook" && decision.decision !== "allow") {
        return { block: true, ...(decision.reason !== undefined && { reason: decision.reason }) };
      }
      const replaced = decision?.arguments === undefined ? undefined : parsed(decision.arguments);
      if (replaced === undefined || isDeepStrictEqual(replaced, args)) return undefined;
      return { args: replaced as Record<string, unknown> };
    },
  };
}

const OTHER_ARGUMENTS = "the record decided on this call with other arguments";
const NOT_DECIDED = "the record holds no decision on this call";

function strayReason(path: string, { to }: Move): string {
  return `the call leads to ${path}, where the session was recorded, and could not be moved to ${to}`;
}

async function restricted(
  restrict: ApproveFn | undefined,
  ...call: Parameters<ApproveFn>
): Promise<Awaited<ReturnType<ApproveFn>> | undefined> {
  if (restrict === undefined) return undefined;
  const answer = await restrict(...call);
  return (typeof answer === "string" ? answer : answer.decision) === "allow" ? undefined : answer;
}

/** True where the decision was taken on these arguments, which a hook may have put in place of the model's. */
function isDecisionOn({ call, decision }: RecordedCall, { name, arguments: json }: ToolCallPayload): boolean {
  return decision !== undefined && call.name === name && isSameJson(decision.arguments ?? call.arguments, json);
}

function isSameCall(a: ToolCallPayload, b: ToolCallPayload): boolean {
  return a.tool_call_id === b.tool_call_id && a.name === b.name && isSameJson(a.arguments, b.arguments);
}

function isSameJson(a: string, b: string): boolean {
  if (a === b) return true;
  const value = parsed(a);
  return value !== undefined && isDeepStrictEqual(value, parsed(b));
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
