import type { RunOutcome } from "@rookery/core";

/** Of a run that may be gone on with: its session, and the flags that are given again or change how it is named. */
export interface GoneOn {
  readonly sessionId: string;
  readonly workspace?: string | undefined;
  readonly baseUrl?: string | undefined;
}

/** How a task or a goal can be gone on with that was well but for an interruption or a limit; absent for any other. */
export function goOnHint(
  { status, code, goal }: Pick<RunOutcome, "status" | "code" | "goal">,
  { sessionId, workspace, baseUrl }: GoneOn,
): string | undefined {
  const isStopped = status === "aborted" || (status === "timeout" && code === undefined);
  if (!isStopped && !LIMITS.has(code ?? "")) return undefined;
  // --continue takes the latest of the directory it is typed in.
  const which = workspace === undefined ? "--continue" : `--resume ${sessionId}`;
  const again = baseUrl === undefined ? "" : ` --base-url ${baseUrl}`;
  return `go on with rookery run ${which}${again} ${goal ? '--goal "OBJECTIVE"' : '"go on"'}`;
}

const LIMITS: ReadonlySet<string> = new Set(["max-turns", "budget", "output-length"]);
