import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { ChildConnection, ChildExit, ChildStart, ProcessInput } from "./child-connection.ts";

/** Where a program that takes a script reads it: a descriptor that startup files of shells do not use for themselves. */
export const SCRIPT_DESCRIPTOR = 19;

/** How a program is connected besides its outputs. */
export interface PipedStart extends ChildStart {
  /** A third pipe is its standard input; else it has none. */
  readonly hasInput: boolean;
  /** It reads a script from `SCRIPT_DESCRIPTOR`, up to a NUL byte. */
  readonly takesScript: boolean;
}

export interface PipedChild extends ChildConnection {
  /** Gives it the script that it takes, or none, which it finds out as well; to be called once. */
  giveScript(script: string | undefined): void;
  /** Whether this process has to stay alive as long as the child does; true at first. */
  holdHost(holds: boolean): void;
  /** On this side, whoever still holds the others. */
  closePipes(): void;
}

/**
 * Starts a program with its output on two pipes.
 *
 * @throws What the system reports when the program cannot be started.
 */
export async function startPiped({ file, args, cwd, env, hasInput, takesScript }: PipedStart): Promise<PipedChild> {
  const stdio: ("pipe" | "ignore")[] = [hasInput ? "pipe" : "ignore", "pipe", "pipe"];
  // Those between are not open in the child.
  if (takesScript) stdio.push(...Array<"ignore">(SCRIPT_DESCRIPTOR - stdio.length).fill("ignore"), "pipe");
  const child = spawn(file, args, { cwd, env, detached: true, stdio });
  const exit = new Promise<ChildExit>((resolve) => {
    child.on("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  await new Promise<void>((resolve, reject) => child.on("spawn", resolve).on("error", reject));
  const pipes = child.stdio as readonly unknown[] as readonly (Socket | null | undefined)[];
  const [stdin, stdout, stderr] = pipes;
  if (child.pid === undefined || !stdout || !stderr) throw new Error("the system gave no process");
  const script = pipes[SCRIPT_DESCRIPTOR];
  // Whoever has ended, or has closed its input, has read what it wanted.
  for (const pipe of [stdin, script]) pipe?.on("error", () => undefined);
  return {
    pid: child.pid,
    outputs: [
      { stream: "stdout", from: stdout },
      { stream: "stderr", from: stderr },
    ],
    closed: Promise.all([whenClosed(stdout), whenClosed(stderr)]).then(() => undefined),
    exit,
    input: pipeInput(stdin),
    giveScript(text) {
      if (text !== undefined) script?.write(`${text}\0`);
      // What a profile has started may hold the other side for ever.
      script?.destroySoon();
    },
    holdHost(holds) {
      for (const handle of [child, ...pipes]) {
        if (holds) handle?.ref();
        else handle?.unref();
      }
    },
    closePipes() {
      for (const pipe of pipes) pipe?.destroy();
    },
  };
}

async function whenClosed(pipe: Socket): Promise<void> {
  if (!pipe.closed) await new Promise<void>((resolve) => pipe.once("close", () => resolve()));
}

function pipeInput(stdin: Socket | null | undefined): ProcessInput {
  return {
    isTerminal: false,
    write(text) {
      if (!stdin?.writable) return false;
      stdin.write(text);
      return true;
    },
    end: () => void stdin?.end(),
  };
}
