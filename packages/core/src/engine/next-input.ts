import { modelMessage, userText } from "../omnimessage/build.ts";
import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage, ToolCallOutputPayload, ToolCallPayload } from "../omnimessage/message.ts";
import { callText, messageText, outputText, tagged } from "./transcript.ts";

/** What a committed call that never got an output is answered with after the harness was killed. */
export const KILLED_OUTPUT = "[interrupted: the harness stopped while this ran; its effect is unknown]";

/**
 * The input of the next request, from the records since the last committed request began.
 *
 * A pure function of the record, so that a live session and a resumed one send the same bytes (rule 8):
 *
 * 1. The committed request's calls are answered in their order, each by its recorded output.
 * 2. What was asked since and never answered follows. Where a run broke off inside a reply, its input and whatever the
 *    reply had brought become one `[turn_aborted]` text, images behind it; otherwise the input stands as it was given.
 * 3. If the run is still trying and calls of a failed attempt had begun to run, a `[turn_retried]` text lists them.
 *
 * @param records - Complete messages and events in recorded order, from a committed `request_begin` or the session's
 *   beginning on.
 */
export function nextInput(records: readonly OmniMessage[]): OmniMessage[] {
  const commit = records.findLastIndex(isCommit);
  const committedCalls = records.slice(0, commit + 1).filter((message) => isType(message, "tool_call"));
  const committedIds = new Set(committedCalls.map((call) => call.payload.tool_call_id));
  const rest = records
    .slice(commit + 1)
    .filter((message) => !(isType(message, "tool_call_output") && committedIds.has(message.payload.tool_call_id)));

  const lastAbort = rest.findLastIndex((message) => isType(message, "abort"));
  return [
    ...answers(committedCalls, records),
    ...brokenOff(rest.slice(0, lastAbort + 1)),
    ...stillTrying(rest.slice(lastAbort + 1)),
  ];
}

/** True for the end of a request that became part of the history (rule 5). */
export function isCommit(message: OmniMessage): boolean {
  return isType(message, "request_end") && message.payload.status === "completed";
}

function answers(
  calls: readonly OmniMessage<ToolCallPayload>[],
  records: readonly OmniMessage[],
): OmniMessage<ToolCallOutputPayload>[] {
  const outputs = new Map<string, OmniMessage<ToolCallOutputPayload>>();
  for (const message of records) {
    if (isType(message, "tool_call_output")) outputs.set(message.payload.tool_call_id, message);
  }
  return calls.map((call) => outputs.get(call.payload.tool_call_id) ?? killedOutput(call));
}

function killedOutput(call: OmniMessage<ToolCallPayload>): OmniMessage<ToolCallOutputPayload> {
  const { tool_call_id } = call.payload;
  return modelMessage({
    type: "tool_call_output",
    role: "user",
    tool_call_id,
    output: KILLED_OUTPUT,
    stop_reason: "aborted",
  });
}

/** Runs that ended without an answer: flattened if a reply had begun, as given if not. */
function brokenOff(records: readonly OmniMessage[]): OmniMessage[] {
  const input = records.filter(isInput);
  if (!records.some(isProduct)) return input;
  const pieces = records.filter((message) => isInput(message) || isProduct(message)).map(messageText);
  const text = [
    "The turn below was interrupted before its reply was complete. What it holds has happened; nothing else of it has.",
    ...pieces.filter((piece) => piece !== undefined),
  ].join("\n");
  return [userText(tagged("turn_aborted", text), "harness"), ...input.filter((message) => !isType(message, "text"))];
}

/** The input of a run that is under way, with a note on the calls that failed attempts had already started. */
function stillTrying(records: readonly OmniMessage[]): OmniMessage[] {
  const input = records.filter(isInput);
  const calls = new Map<string, ToolCallPayload>();
  const ran: string[] = [];
  for (const message of records) {
    if (isType(message, "tool_call")) calls.set(message.payload.tool_call_id, message.payload);
    if (!isType(message, "tool_call_output")) continue;
    const call = calls.get(message.payload.tool_call_id);
    if (call) ran.push(callText(call), outputText(message.payload));
  }
  if (ran.length === 0) return input;
  const text = [
    "An earlier attempt at this reply broke off. These calls of it have run; do not make them again.",
    ...ran,
  ].join("\n");
  return [...input, userText(tagged("turn_retried", text), "harness")];
}

/** What a caller gave the model: user text, images, data. */
function isInput(message: OmniMessage): boolean {
  return (
    message.type === "model_msg" &&
    !isType(message, "tool_call_output") &&
    (message.payload as { role?: string }).role === "user"
  );
}

/** What an unfinished reply brought: model text, thinking, calls and their outputs. */
function isProduct(message: OmniMessage): boolean {
  return message.type === "model_msg" && !isInput(message) && messageText(message) !== undefined;
}
