import { findExecutable, isExecutable } from "./find-executable.ts";

/** The program and arguments that run a shell command as it is written: one argument, nothing added to it (PT-091). */
export function shellCommand(
  command: string,
  searchPath: string | undefined,
): { file: string; args: readonly string[] } {
  return { file: findShell(searchPath), args: ["-lc", command] };
}

/** The shell commands run in: `/bin/bash`, else the `bash` of the search path, else `sh`. */
export function findShell(searchPath: string | undefined, preferred = "/bin/bash"): string {
  return isExecutable(preferred) ? preferred : (findExecutable("bash", searchPath) ?? "sh");
}
