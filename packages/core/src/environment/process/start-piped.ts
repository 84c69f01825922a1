import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { Socket } from "node:net";
import type { ChildConnection, ChildExit, ChildStart, ProcessInput } from "./child-connection.ts";
import { type SystemPipe, takePipes } from "./system-pipes.ts";

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
export async function startPiped(start: PipedStart): Promise<PipedChild> {
  const { child, outputs } = spawnPiped(start, await takePipes(2));
  const exit = new Promise<ChildExit>((resolve) => {
    child.on("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const [stdout, stderr] = outputs;
  const closed = Promise.all(outputs.map((output) => new Promise((resolve) => output.once("close", resolve))));
  try {
    await new Promise<void>((resolve, reject) => child.on("spawn", resolve).on("error", reject));
    if (child.pid === undefined || !stdout || !stderr) throw new Error("the system gave no process");
  } catch (error) {
    for (const output of outputs) output.destroy();
    throw error;
  }
  const pipes = pipesOf(child);
  const [stdin] = pipes;
  const script = pipes[SCRIPT_DESCRIPTOR];
  // Whoever has ended, or has closed its input, has read what it wanted.
  for (const pipe of [stdin, script]) pipe?.on("error", () => undefined);
  return {
    pid: child.pid,
    outputs: [
      { stream: "stdout", from: stdout },
      { stream: "stderr", from: stderr },
    ],
    closed: closed.then(() => undefined),
    exit,
    input: pipeInput(stdin),
    giveScript(text) {
      if (text !== undefined) script?.write(`${text}\0`);
      // What a profile has started may hold the other side for ever.
      script?.destroySoon();
    },
    holdHost(holds) {
      for (const handle of [child, ...pipes, ...outputs]) {
        if (holds) handle?.ref();
        else handle?.unref();
      }
    },
    closePipes() {
      for (const pipe of [...pipes, ...outputs]) pipe?.destroy();
    },
  };
}

/** @param systemPipes - Absent: Node connects the outputs in its way. */
function spawnPiped(
  { file, args, cwd, env, hasInput, takesScript }: PipedStart,
  systemPipes: readonly SystemPipe[] | undefined,
): { child: ChildProcess; outputs: readonly Socket[] } {
  const [stdout, stderr] = systemPipes?.map(({ writeFd }) => writeFd) ?? [];
  const stdio: ("pipe" | "ignore" | number)[] = [hasInput ? "pipe" : "ignore", stdout ?? "pipe", stderr ?? "pipe"];
  // Those between are not open in the child.
  if (takesScript) stdio.push(...Array<"ignore">(SCRIPT_DESCRIPTOR - stdio.length).fill("ignore"), "pipe");
  const outputs = systemPipes?.map(({ readFd }) => new Socket({ fd: readFd, readable: true, writable: false }));
  try {
    const child = spawn(file, args, { cwd, env, detached: true, stdio });
    return {
      child,
      outputs:
        outputs ??
        pipesOf(child)
          .slice(1, 3)
          .flatMap((pipe) => pipe ?? []),
    };
  } catch (error) {
    for (const output of outputs ?? []) output.destroy();
    throw error;
  } finally {
    for (const { writeFd } of systemPipes ?? []) closeSync(writeFd);
  }
}

/** Node's own, which are sockets. */
function pipesOf(child: ChildProcess): readonly (Socket | null | undefined)[] {
  return child.stdio as readonly unknown[] as readonly (Socket | null | undefined)[];
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
