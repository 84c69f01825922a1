import type { StopReason } from "../../omnimessage/message.ts";
import type { ToolResult } from "../contract.ts";
import { shorten } from "../shorten.ts";
import type { CommandSession } from "./command-session.ts";
import type { ProcessEnd } from "./run-process.ts";

/** Details have room for so much of a command beside all else (`jsonDetails`). */
const MAX_COMMAND_CHARS = 4 * 1024;

/** What a call says of a command that has ended; `details.process_id` is there for one that had been given an id. */
export function endReport(session: CommandSession, end: ProcessEnd, processId?: string): ToolResult {
  const { exitCode, signal, durationMs } = end;
  return { ...verdict(end), details: { ...detailsOf(session, processId), exitCode, signal, durationMs } };
}

/** What a call says of a command that goes on. */
export function runningReport(session: CommandSession, processId: string): ToolResult {
  const note = `[still running; process_id: ${processId}; read on, answer or stop it with input_command]`;
  return { note, details: detailsOf(session, processId) };
}

/** The same in two words and a few, for whoever did not see it. */
export function shortVerdict(end: ProcessEnd): { status: StopReason; detail: string } {
  const { stopReason: status = "completed" } = verdict(end);
  if (end.outcome !== "exited") return { status, detail: howItEnded(end) };
  return { status, detail: end.signal === null ? `exit code ${end.exitCode}` : `killed by ${end.signal}` };
}

/** How a command ended, in words for whoever asks later. */
export function howItEnded({ outcome, exitCode, signal }: ProcessEnd): string {
  if (outcome === "aborted" || outcome === "timed-out") return "was ended from outside";
  if (outcome === "failed-to-start") return "could not be started";
  return signal === null ? `has ended with exit code ${exitCode}` : `was killed by ${signal}`;
}

function verdict({ outcome, exitCode, signal }: ProcessEnd): ToolResult {
  if (outcome === "aborted") return { stopReason: "aborted" };
  if (outcome === "timed-out") return { stopReason: "timeout" };
  if (outcome === "failed-to-start") return { stopReason: "failed" };
  if (signal !== null) return { stopReason: "failed", note: `[killed by ${signal}]` };
  return { stopReason: exitCode === 0 ? "completed" : "failed", note: `[exit code ${exitCode}]` };
}

function detailsOf({ started: { command, cwd }, ansi }: CommandSession, processId: string | undefined): object {
  return {
    command: shorten(command, MAX_COMMAND_CHARS),
    cwd,
    ...(processId !== undefined && { process_id: processId }),
    ...(ansi !== undefined && { ansi }),
  };
}
