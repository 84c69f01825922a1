import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** The program and arguments that run a shell command as it is written: one argument, nothing added to it (PT-091). */
export async function shellCommand(
  command: string,
  searchPath: string | undefined,
): Promise<{ file: string; args: readonly string[] }> {
  return { file: await findShell(searchPath), args: ["-lc", command] };
}

/** The shell commands run in: `/bin/bash`, else the `bash` of the search path, else `sh`. */
export async function findShell(searchPath: string | undefined, preferred = "/bin/bash"): Promise<string> {
  const onPath = (searchPath ?? "").split(delimiter).filter(Boolean);
  for (const candidate of [preferred, ...onPath.map((directory) => join(directory, "bash"))]) {
    if (await isExecutable(candidate)) return candidate;
  }
  return "sh";
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
