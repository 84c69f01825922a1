import type { ErrorCode, RunOutcome, StopReason } from "@rookery/core";

/** The exit code of a run. */
export function runExitCode({ status, code }: Pick<RunOutcome, "status" | "code">): number {
  // A time-out with a code is the model's, after all attempts; only the caller's own limit ends without one.
  return status === "timeout" && code !== undefined ? FAILED : stopExitCodes[status];
}

/** The exit code of one tool call. */
export function stopExitCode(stopReason: StopReason = "completed"): number {
  return stopExitCodes[stopReason];
}

/** The exit code of an error outside of a run. */
export function errorExitCode(code: ErrorCode): number {
  return errorExitCodes[code];
}

/** Done, but nobody reads on: 128 and SIGPIPE, as a shell reports it. */
export const PIPE_CLOSED = 141;
export const FAILED = 1;
const USAGE = 2;
const CREDENTIALS = 3;

/** 128 and the number of the signal, as a shell reports it. */
export const signalExitCodes: Readonly<Record<"SIGINT" | "SIGTERM" | "SIGHUP", number>> = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 129,
};

const stopExitCodes: Readonly<Record<StopReason, number>> = {
  completed: 0,
  failed: FAILED,
  malformed: FAILED,
  auth: CREDENTIALS,
  timeout: 124,
  aborted: signalExitCodes.SIGINT,
};

const errorExitCodes: Readonly<Record<ErrorCode, number>> = {
  usage: USAGE,
  "config-invalid": USAGE,
  "model-missing": USAGE,
  "model-unknown": USAGE,
  "model-auth": CREDENTIALS,
  "root-unwritable": USAGE,
  "workspace-missing": USAGE,
  "sandbox-unavailable": USAGE,
  "agent-closed": FAILED,
  "session-busy": FAILED,
  "session-closed": FAILED,
  "session-auth": CREDENTIALS,
  "session-locked": FAILED,
  "session-not-found": USAGE,
  "session-exists": USAGE,
  "input-empty": USAGE,
  "input-too-large": USAGE,
  "tool-unknown": USAGE,
  "tool-duplicate": USAGE,
  "trace-corrupt": USAGE,
};
