import type { Readable } from "node:stream";

/** What a command touches of its process; tests pass buffers. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(on: boolean): unknown };
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Emits `SIGINT`, `SIGTERM` and `SIGHUP`. */
  readonly signals: NodeJS.EventEmitter;
  /** Ends the program at once. */
  exit(code: number): void;
}

type TerminalStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

/** The process itself. Standard input is not touched before it is asked for. */
export function processIo(): Io {
  return {
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: currentDirectory(),
    signals: process,
    exit: (code) => process.exit(code),
  };
}

/** @throws What to do in a directory that somebody has removed. */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw new Error("the current directory does not exist any more; change to one that does");
  }
}
