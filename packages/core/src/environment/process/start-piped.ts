import { spawn } from "node:child_process";
import type { Writable } from "node:stream";
import type { ChildConnection, ChildExit, ChildStart, ProcessInput } from "./child-connection.ts";

/**
 * Starts a program with its output on two pipes, and with a third one for input or with none.
 *
 * @throws What the system reports when the program cannot be started.
 */
export async function startPiped(
  { file, args, cwd, env }: ChildStart,
  options: { readonly hasInput: boolean },
): Promise<ChildConnection> {
  const child = spawn(file, args, {
    cwd,
    env,
    detached: true,
    stdio: [options.hasInput ? "pipe" : "ignore", "pipe", "pipe"],
  });
  const exit = new Promise<ChildExit>((resolve) => {
    child.on("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  await new Promise<void>((resolve, reject) => child.on("spawn", resolve).on("error", reject));
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdout === null || stderr === null) throw new Error("the system gave no process");
  const outputs = [
    { stream: "stdout", from: stdout },
    { stream: "stderr", from: stderr },
  ] as const;
  return { pid, outputs, closed, exit, input: pipeInput(stdin) };
}

function pipeInput(stdin: Writable | null): ProcessInput {
  // Whoever closes its input has read what it wanted.
  stdin?.on("error", () => undefined);
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
