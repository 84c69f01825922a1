import { modelMessage, userImage, userText } from "../omnimessage/build.ts";
import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage, ToolCallOutputPayload, ToolCallPayload } from "../omnimessage/message.ts";
import { isOverflow, repeatedInput } from "./repeated-input.ts";
import { callText, proseText, tagged } from "./transcript.ts";

/** What a committed call that never got an output is answered with after the harness was killed. */
export const KILLED_OUTPUT = "[interrupted: the harness stopped while this ran; its effect is unknown]";

/** The `code` of the `abort` that ends a run in the record which was going on when the harness was killed. */
export const HARNESS_STOPPED = "harness-stopped";

/**
 * The input of the next request, from the records since the last committed request began.
 *
 * A pure function of the record, so that a live session and a resumed one send the same bytes (rule 8):
 *
 * 1. The committed request's calls are answered in their order, each by its recorded output.
 * 2. What was asked since and never answered follows. Where a run broke off inside a reply, its input and whatever the
 *    reply had brought become one `[turn_aborted]` text, images behind it (what a failed attempt said is not repeated);
 *    otherwise the input stands as it was given, but for that of a goal, which is over, and for what is long and did not
 *    fit the context: of that a part stays.
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
  const outputs = records.filter((message) => isType(message, "tool_call_output"));
  const byId = new Map(outputs.map((output) => [output.payload.tool_call_id, output]));
  return calls.map((call) => byId.get(call.payload.tool_call_id) ?? killedOutput(call));
}

/** The output of a call whose own was never recorded. */
export function killedOutput(call: OmniMessage<ToolCallPayload>): OmniMessage<ToolCallOutputPayload> {
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
  const runs = withRepeatedInput(runsOf(records));
  const input = runs.flat().filter(isInput);
  const outputs = new Map([...runs.flatMap(killedOutputs), ...outputsById(records)]);
  const pieces = runs.flatMap((run) => runTranscript(run, outputs));
  if (!records.some((message) => isProduct(message))) return input;
  const text = ["The turn below was interrupted before its reply was complete.", ...pieces].join("\n");
  return [
    userText(tagged("turn_aborted", text), "harness"),
    ...input.filter((message) => !isType(message, "text")),
    ...imagesOf([...outputs.values()]),
  ];
}

/** Of a run in which the harness was killed, by id: whether a call that had been let through ran is not known. */
function killedOutputs(run: readonly OmniMessage[]): [id: string, ToolCallOutputPayload][] {
  const end = run.at(-1);
  if (!end || !isType(end, "abort") || end.payload.code !== HARNESS_STOPPED) return [];
  const decisions = run.filter((message) => isType(message, "approval_decision"));
  const allowed = new Set(
    decisions.flatMap(({ payload }) => (payload.decision === "allow" ? payload.tool_call_id : [])),
  );
  return run
    .filter((message) => isType(message, "tool_call"))
    .filter(({ payload }) => allowed.has(payload.tool_call_id))
    .map((call) => [call.payload.tool_call_id, killedOutput(call).payload]);
}

/** The same, with their input as it can be said again once they are over; what was asked first is in every request since. */
function withRepeatedInput(runs: readonly OmniMessage[][]): OmniMessage[][] {
  const last = runs.findLastIndex((run) => run.some(isOverflow));
  return runs.map((run, at) => run.map((message) => (isInput(message) ? repeatedInput(message, at <= last) : message)));
}

/** The records of each run, with the `abort` that ends it. */
function runsOf(records: readonly OmniMessage[]): OmniMessage[][] {
  const runs: OmniMessage[][] = [[]];
  for (const message of records) {
    runs.at(-1)?.push(message);
    if (isType(message, "abort")) runs.push([]);
  }
  return runs;
}

/** What was asked, what its last attempt said, and every call: those of earlier attempts only if they ran. */
function runTranscript(run: readonly OmniMessage[], outputs: ReadonlyMap<string, ToolCallOutputPayload>): string[] {
  const lastAttempt = run.findLastIndex((message) => isType(message, "request_begin"));
  return run.flatMap((message, at) => {
    if (isType(message, "tool_call")) {
      const output = outputs.get(message.payload.tool_call_id);
      return output || at > lastAttempt ? [callText(message.payload, output)] : [];
    }
    return isInput(message) || at > lastAttempt ? (proseText(message) ?? []) : [];
  });
}

/** The input of a run that is under way, with a note on the calls that failed attempts had already started. */
function stillTrying(records: readonly OmniMessage[]): OmniMessage[] {
  const input = records.filter(isInput);
  const outputs = outputsById(records);
  const ran = records
    .filter((message) => isType(message, "tool_call"))
    .filter(({ payload }) => outputs.has(payload.tool_call_id));
  if (ran.length === 0) return input;
  const text = [
    "An earlier attempt at this reply broke off. These calls of it have run; do not make them again.",
    ...ran.map(({ payload }) => callText(payload, outputs.get(payload.tool_call_id))),
  ].join("\n");
  return [...input, userText(tagged("turn_retried", text), "harness"), ...imagesOf([...outputs.values()])];
}

function outputsById(records: readonly OmniMessage[]): Map<string, ToolCallOutputPayload> {
  const outputs = records.filter((message) => isType(message, "tool_call_output"));
  return new Map(outputs.map(({ payload }) => [payload.tool_call_id, payload]));
}

function imagesOf(outputs: readonly ToolCallOutputPayload[]): OmniMessage[] {
  return outputs.flatMap(({ images = [] }) => images.map(userImage));
}

/** What a caller gave the model: user text, images, data. */
export function isInput(message: OmniMessage): boolean {
  if (message.type !== "model_msg" || isType(message, "tool_call_output")) return false;
  return (message.payload as { role?: string }).role === "user";
}

/** What an unfinished reply brought: text, thinking, calls, outputs. */
function isProduct(message: OmniMessage): boolean {
  if (isType(message, "tool_call") || isType(message, "tool_call_output")) return true;
  return !isInput(message) && proseText(message) !== undefined;
}
