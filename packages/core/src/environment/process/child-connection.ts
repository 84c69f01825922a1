import type { Readable } from "node:stream";
import type { RawChunk } from "./output-queue.ts";

/** What a connected child is started with. */
export interface ChildStart {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** A running child, whichever way it is connected. It leads a process group and a session of its own. */
export interface ChildConnection {
  readonly pid: number;
  readonly outputs: readonly { readonly stream: RawChunk["stream"]; readonly from: Readable }[];
  /** Resolves when everything that held the outputs has let go of them. */
  readonly closed: Promise<void>;
  readonly exit: Promise<ChildExit>;
  readonly input: ProcessInput;
}

export interface ChildExit {
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What can be told to a running process. */
export interface ProcessInput {
  /** False where nobody reads: the process has closed its input, has ended, or was given none. */
  write(text: string): boolean;
  /** The end of input: end-of-file on a pipe, Ctrl-D at a terminal. */
  end(): void;
  /** At a terminal control characters have their meaning; in a pipe they are bytes. */
  readonly isTerminal: boolean;
}
