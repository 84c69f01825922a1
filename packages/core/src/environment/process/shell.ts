import { basename } from "node:path";
import { findExecutable, isExecutable } from "./find-executable.ts";
import { SCRIPT_DESCRIPTOR } from "./start-piped.ts";

/** How `runProcess` is told of a shell command. */
export interface ShellCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** What the shell takes from `SCRIPT_DESCRIPTOR`; absent where the arguments hold the command. */
  readonly script?: string;
}

/** A login shell that runs a command as it is written: one argument, nothing added to it (PT-091). */
export function shellCommand(command: string, searchPath: string | undefined): ShellCommand {
  return { file: findShell(searchPath), args: ["-lc", command] };
}

/**
 * The same for a shell that can be started before its command is known: `bash -lc` evaluates the script that it takes.
 *
 * The command can be of any length, and is in no list of processes, so that `pkill -f` does not find the shell that it
 * stands in. It sees nothing of this: no other variable, no open descriptor, and `SECONDS` counts from its start. A shell that
 * is no bash, and one on Windows, where children inherit no such descriptors, gets the command as an argument.
 *
 * @param host - The shell (default: `findShell`) and the platform (default: this one).
 */
export function scriptShell(
  command: string,
  searchPath: string | undefined,
  host: { readonly file?: string; readonly platform?: NodeJS.Platform } = {},
): ShellCommand {
  const { file = findShell(searchPath), platform = process.platform } = host;
  const takesScript = basename(file) === "bash" && platform !== "win32";
  return takesScript ? { file, args: ["-lc", TAKE_SCRIPT], script: command } : { file, args: ["-lc", command] };
}

/**
 * What `bash -c` keeps of its argument holds the script then. With `builtin` and `command` no alias or function of the profile is
 * meant; without `exit` no logout file is read by a shell that got nothing to do.
 */
const TAKE_SCRIPT = [
  // One line: the number of the command's first in error messages is 1.
  `if IFS= builtin read -r -d "" -u ${SCRIPT_DESCRIPTOR} BASH_EXECUTION_STRING; then`,
  `command exec ${SCRIPT_DESCRIPTOR}<&-; SECONDS=0; builtin export -n BASH_EXECUTION_STRING; builtin eval "$BASH_EXECUTION_STRING";`,
  `else builtin echo "the command did not reach its shell: does the profile use descriptor ${SCRIPT_DESCRIPTOR}?" >&2;`,
  "builtin test; fi",
].join(" ");

/** The shell commands run in: `/bin/bash`, else the `bash` of the search path, else `sh`. */
export function findShell(searchPath: string | undefined, preferred = "/bin/bash"): string {
  return isExecutable(preferred) ? preferred : (findExecutable("bash", searchPath) ?? "sh");
}
