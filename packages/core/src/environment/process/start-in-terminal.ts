import { constants } from "node:os";
import { Readable } from "node:stream";
import type { IPty } from "@lydell/node-pty";
import { errorText } from "../../errors/error-text.ts";
import type { ChildConnection, ChildExit, ChildStart } from "./child-connection.ts";

const END_OF_TRANSMISSION = "\x04";

/**
 * Starts a program at a pseudo-terminal of 80 columns and 24 rows, which is its controlling terminal; what it prints is
 * all one stream.
 *
 * @throws What is wrong, when the optional package for this is not there or the system has no terminal to give.
 */
export async function startInTerminal({ file, args, cwd, env }: ChildStart): Promise<ChildConnection> {
  const { spawn } = await loadTerminals();
  const terminal = spawn(file, [...args], { name: env.TERM ?? "dumb", cols: 80, rows: 24, cwd, env, encoding: null });
  let hasEnded = false;
  const exit = new Promise<ChildExit>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      hasEnded = true;
      resolve(signal ? { exitCode: null, signal: signalName(signal) } : { exitCode, signal: null });
    });
  });
  const output = outputOf(terminal);
  const write = (text: string): boolean => {
    if (!hasEnded) terminal.write(text);
    return !hasEnded;
  };
  return {
    pid: terminal.pid,
    outputs: [{ stream: "stdout", from: output }],
    closed: new Promise((resolve) => void output.once("close", resolve)),
    exit,
    input: { isTerminal: true, write, end: () => void write(END_OF_TRANSMISSION) },
  };
}

/** The package is optional: where it has no binary, or was left out, only commands without a terminal run. */
async function loadTerminals(): Promise<typeof import("@lydell/node-pty")> {
  try {
    return await import("@lydell/node-pty");
  } catch (error) {
    const [reason] = errorText(error).split("\n");
    throw new Error(
      `a command with tty needs the package @lydell/node-pty, which cannot be loaded (${reason}); install it, or run the command without tty`,
    );
  }
}

function outputOf(terminal: IPty): Readable {
  const output = new Readable({ read: () => terminal.resume() });
  // With no encoding the data are bytes, which the types of the package do not know.
  terminal.onData((bytes: unknown) => {
    if (!output.push(bytes)) terminal.pause();
  });
  terminal.onExit(() => output.push(null));
  return output;
}

function signalName(signal: number): NodeJS.Signals {
  const [name] = Object.entries(constants.signals).find(([, number]) => number === signal) ?? [];
  return (name ?? "SIGKILL") as NodeJS.Signals;
}
