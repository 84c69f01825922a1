import type { RunOutcome } from "@rookery/core";

/** How a task or a goal can be gone on with that was well but for an interruption or a limit; absent for any other. */
export function goOnHint({ status, code, goal }: Pick<RunOutcome, "status" | "code" | "goal">): string | undefined {
  const isStopped = status === "aborted" || (status === "timeout" && code === undefined);
  if (!isStopped && !LIMITS.has(code ?? "")) return undefined;
  return `go on with rookery run --continue ${goal ? '--goal "OBJECTIVE"' : '"go on"'}`;
}

const LIMITS: ReadonlySet<string> = new Set(["max-turns", "budget", "output-length"]);
