import { type CallResult, type OmniMessage, ofType, type ReplayReport } from "@rookery/core";
import { toolHeading } from "./heading.ts";
import { jsonLine } from "./json-line.ts";
import { neutralise, oneLine } from "./neutralise.ts";

/** A line for each call, what differs below it, and a summary. */
export function comparisonText(report: ReplayReport, records: readonly OmniMessage[], columns: number): string {
  const offered = ofType(records, "tool_list_ready").flatMap(({ payload }) => payload.tools);
  const tools = new Map(offered.map((tool) => [tool.name, tool]));
  const lines = report.calls.flatMap(({ difference, ...call }) => {
    const heading = toolHeading(call, tools.get(call.name), columns).replace("●", difference === undefined ? "✓" : "✗");
    const shown = difference === undefined ? [] : neutralise(difference).split("\n");
    return [heading, ...shown.map((line) => `    ${line}`)];
  });
  lines.push(...report.problems.map((problem) => `✗ ${oneLine(problem)}`), summary(report));
  return lines.map((line) => `${line}\n`).join("");
}

/** The same as one object. */
export function comparisonJson(report: ReplayReport): string {
  return jsonLine({
    status: report.equal ? "equal" : "different",
    session_id: report.sessionId,
    recorded_session_id: report.recordedSessionId,
    trace: report.traceFile,
    workspace: report.workspaceDir,
    problems: report.problems,
    calls: report.calls.map(({ toolCallId, recorded, replayed, ...call }) => ({
      tool_call_id: toolCallId,
      ...call,
      ...(recorded && { recorded: onTheWire(recorded) }),
      ...(replayed && { replayed: onTheWire(replayed) }),
    })),
  });
}

function summary({ calls, problems, equal, sessionId }: ReplayReport): string {
  const different = calls.filter(({ difference }) => difference !== undefined).length;
  const count = `${calls.length} ${calls.length === 1 ? "call" : "calls"}`;
  const verdict = equal
    ? "as recorded"
    : different > 0
      ? `${different} of them different`
      : `${problems.length} differences beside`;
  return `${count}, ${verdict}; replayed as ${sessionId}`;
}

function onTheWire({ output, stopReason, images }: CallResult): object {
  return { output, stop_reason: stopReason, ...(images.length > 0 && { images }) };
}
