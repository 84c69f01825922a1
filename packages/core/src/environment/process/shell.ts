import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The program and arguments that run a shell command as it is written: one argument, nothing added to it (PT-091). */
export function shellCommand(
  command: string,
  searchPath: string | undefined,
): { file: string; args: readonly string[] } {
  return { file: findShell(searchPath), args: ["-lc", command] };
}

/** The shell commands run in: `/bin/bash`, else the `bash` of the search path, else `sh`. */
export function findShell(searchPath: string | undefined, preferred = "/bin/bash"): string {
  const onPath = (searchPath ?? "").split(delimiter).filter(Boolean);
  for (const candidate of [preferred, ...onPath.map((directory) => join(directory, "bash"))]) {
    if (isExecutable(candidate)) return candidate;
  }
  return "sh";
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
