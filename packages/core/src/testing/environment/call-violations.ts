import { isToolEvent } from "../../engine/execute-call.ts";
import { wholeOutput } from "../../engine/stream-output.ts";
import { eventMessage } from "../../omnimessage/build.ts";
import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage, ToolCallPayload } from "../../omnimessage/message.ts";
import { messageProblems } from "../../omnimessage/validate.ts";
import { ruleViolations } from "../check-rules.ts";
import { place } from "../rules/rule.ts";

/**
 * Checks what an environment said of one call: the rules of the protocol, one complete output at the end, and nothing
 * that is not a tool's to say. An output may come whole; the engine makes the fragments of it.
 */
export function callViolations(call: OmniMessage<ToolCallPayload>, messages: readonly OmniMessage[]): string[] {
  const malformed = messages.flatMap((message, at) =>
    messageProblems(message).map((problem) => `format: ${place(at)}: ${problem}`),
  );
  if (malformed.length > 0) return malformed;

  const { tool_call_id } = call.payload;
  const own = messages.filter(({ origin }) => origin === undefined);
  const foreign = own.filter((message) => !isOutputOf(message, tool_call_id) && !isToolEvent(message));
  const outputs = own.filter((message) => isOutputOf(message, tool_call_id));
  const decision = eventMessage({ type: "approval_decision", tool_call_id, decision: "allow" });
  return [
    ...foreign.map(({ payload }) => `${payload.type} is not for this call to say`),
    ...(outputs.some((message) => isType(message, "tool_call_output")) ? [] : ["there is no complete output"]),
    ...endViolations(outputs),
    ...ruleViolations([call, decision, ...asStreamed(messages, outputs)]),
  ];
}

function isOutputOf(message: OmniMessage, id: string): boolean {
  const isOutput = isType(message, "tool_call_output") || isType(message, "partial_tool_call_output");
  return isOutput && message.payload.tool_call_id === id;
}

function endViolations(outputs: readonly OmniMessage[]): string[] {
  const complete = outputs.findIndex((message) => isType(message, "tool_call_output"));
  const next = outputs[complete + 1];
  if (complete === -1 || next === undefined) return [];
  return [`${next.payload.type} comes after the complete output`];
}

function asStreamed(messages: readonly OmniMessage[], outputs: readonly OmniMessage[]): OmniMessage[] {
  const isWhole = !outputs.some((message) => isType(message, "partial_tool_call_output"));
  return messages.flatMap((message) =>
    isWhole && isType(message, "tool_call_output") && outputs.includes(message) ? wholeOutput(message) : [message],
  );
}
