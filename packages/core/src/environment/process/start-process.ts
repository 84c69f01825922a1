import { accessSync, constants, statSync } from "node:fs";
import { errorCode, errorText } from "../../errors/error-text.ts";
import type { Confine } from "../sandbox/settings.ts";
import type { ChildConnection, ChildStart } from "./child-connection.ts";
import { withMarker } from "./process-marker.ts";
import type { ShellAhead } from "./shell-ahead.ts";
import { type PipedStart, startPiped } from "./start-piped.ts";

/** What is started, and how; `file` is a path, or a name that is looked up on the `PATH` of `env`; `cwd` is absolute. */
export interface StartOptions extends ChildStart {
  /** Where its input comes from: nowhere (default), `write` through a pipe, or `write` at a pseudo-terminal. */
  readonly input?: "none" | "pipe" | "terminal";
  /** Given to a shell that takes its script (`scriptShell`); not at a terminal. */
  readonly script?: string | undefined;
  /** Makes of the command line one that runs it in a sandbox. */
  readonly confine?: Confine;
  /** Where the shell for the script may be waiting. */
  readonly ahead?: ShellAhead;
}

export interface StartedProcess {
  readonly connection: ChildConnection;
  /** By what the processes that leave its group are found. */
  readonly marker: string;
}

/**
 * Starts a program, or gives its script to a shell that was started ahead.
 *
 * @param marker - For a process that is started now.
 * @throws What `startProblem` explains.
 */
export async function startProcess(options: StartOptions, marker: string): Promise<StartedProcess> {
  const { cwd, script, confine, ahead } = options;
  checkDirectory(cwd);
  // What a sandbox holds is decided when its command starts.
  const waiting = script === undefined || confine ? undefined : ahead?.take(pipedStart(options));
  if (waiting !== undefined) {
    waiting.child.giveScript(script);
    return { connection: waiting.child, marker: waiting.marker };
  }
  const env = withMarker(options.env, marker);
  const command = [options.file, ...options.args];
  const [file = options.file, ...args] = confine?.(command, { cwd, env }) ?? command;
  if (options.input === "terminal") {
    const { startInTerminal } = await import("./start-in-terminal.ts");
    return { connection: await startInTerminal({ file, args, cwd, env }), marker };
  }
  const connection = await startPiped({ ...pipedStart(options), file, args, env });
  if (script !== undefined) connection.giveScript(script);
  return { connection, marker };
}

/** The same as what `startPiped` takes. */
export function pipedStart({ file, args, cwd, env, input, script }: StartOptions): PipedStart {
  return { file, args, cwd, env, hasInput: input === "pipe", takesScript: script !== undefined };
}

/** A missing directory must be found beforehand: `spawn` would report the program as missing. */
function checkDirectory(path: string): void {
  const problem = directoryProblem(path);
  if (problem !== undefined) throw new CannotRun(`cannot run in ${path}: ${problem}`);
}

class CannotRun extends Error {}

function directoryProblem(path: string): string | undefined {
  try {
    if (!statSync(path).isDirectory()) return NOT_A_DIRECTORY;
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return "the directory does not exist; create it or name another";
    return code === "ENOTDIR" ? NOT_A_DIRECTORY : `the directory cannot be entered (${code ?? errorText(error)})`;
  }
}

const NOT_A_DIRECTORY = "it is not a directory; name one that is";

/** Why `startProcess` failed, for whoever asked for it. */
export function startProblem(error: unknown, file: string): string {
  if (error instanceof CannotRun) return error.message;
  const code = errorCode(error);
  if (code === "ENOENT") return `cannot start ${file}: there is no such program`;
  // The answer, too, where the search path has a directory that may not be looked into.
  if (code === "EACCES") return `cannot start ${file}: there is no such program that may be run`;
  if (code === "E2BIG") return `cannot start ${file}: arguments and environment are too long; pass long text in a file`;
  return `cannot start ${file}: ${errorText(error)}`;
}
