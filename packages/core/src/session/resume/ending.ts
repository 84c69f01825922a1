import type { ContextLog } from "../../engine/context-log.ts";
import { HARNESS_STOPPED, isCommit, isInput, killedOutput } from "../../engine/next-input.ts";
import { eventMessage } from "../../omnimessage/build.ts";
import { readGoalInput } from "../../omnimessage/goal-input.ts";
import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";

/**
 * The records that a killed harness did not come to write: the end of a request, outputs of committed calls, the end of a
 * compaction, the end of the run. They are added to the log. Empty where nothing is missing.
 */
export function addMissingEnding(log: ContextLog): OmniMessage[] {
  const ending: OmniMessage[] = [];
  const add = (messages: readonly OmniMessage[]): void => {
    for (const message of messages) {
      ending.push(message);
      log.add(message);
    }
  };
  add(endOfRequest(log.tail));
  add(outputsOfCommitted(log.tail));
  if (log.compaction) {
    const { reason, mode } = log.compaction;
    add([eventMessage({ type: "compaction_end", reason, mode, status: "failed", error_message: STOPPED })]);
  }
  if (ending.length > 0 || waitsForReply(log.tail) || log.nextInput().some(readGoalInput)) {
    add([eventMessage({ type: "abort", reason: STOPPED, code: HARNESS_STOPPED })]);
  }
  return ending;
}

const STOPPED = "the harness stopped";

function outputsOfCommitted(tail: readonly OmniMessage[]): OmniMessage[] {
  const calls = tail.slice(0, tail.findLastIndex(isCommit) + 1).filter((message) => isType(message, "tool_call"));
  const answered = idsOf(tail, "tool_call_output");
  const decided = idsOf(tail, "approval_decision");
  return calls
    .filter(({ payload }) => !answered.has(payload.tool_call_id))
    .flatMap((call) => {
      const { tool_call_id } = call.payload;
      const reason = `${STOPPED} before this was decided`;
      const decision = {
        type: "approval_decision",
        tool_call_id,
        decision: "deny",
        decided_by: "default",
        reason,
      } as const;
      return [...(decided.has(tool_call_id) ? [] : [eventMessage(decision)]), killedOutput(call)];
    });
}

function idsOf(tail: readonly OmniMessage[], type: "tool_call_output" | "approval_decision"): Set<string> {
  return new Set(tail.flatMap((message) => (isType(message, type) ? message.payload.tool_call_id : [])));
}

/** Usage is the last that a model says, so that what stands before it is a whole reply. */
function endOfRequest(tail: readonly OmniMessage[]): OmniMessage[] {
  const began = tail.findLastIndex((message) => isType(message, "request_begin"));
  const ended = tail.findLastIndex((message) => isType(message, "request_end"));
  if (began <= ended) return [];
  const isWhole = tail.slice(began).some((message) => isType(message, "token_usage") && !message.payload.source);
  return [eventMessage({ type: "request_end", status: isWhole ? "completed" : "aborted", error_message: STOPPED })];
}

/** Something was said that no reply answers and no interruption ends. */
function waitsForReply(tail: readonly OmniMessage[]): boolean {
  const ended = tail.findLastIndex((message) => isCommit(message) || isType(message, "abort"));
  return tail
    .slice(ended + 1)
    .some((message) => isType(message, "request_begin") || (isInput(message) && !isNote(message)));
}

/** What the harness adds between runs waits for the next prompt, not for a reply. */
function isNote(message: OmniMessage): boolean {
  return isType(message, "text") && message.payload.sender === "harness";
}
