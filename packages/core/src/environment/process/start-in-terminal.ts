import { closeSync, constants as files, openSync } from "node:fs";
import { constants } from "node:os";
import { Readable } from "node:stream";
import type { IPty } from "@lydell/node-pty";
import { errorText } from "../../errors/error-text.ts";
import type { ChildConnection, ChildExit, ChildStart } from "./child-connection.ts";

type Pty = typeof import("@lydell/node-pty");

const END_OF_TRANSMISSION = "\x04";

/**
 * Starts a program at a pseudo-terminal of 80 columns and 24 rows, which is its controlling terminal; what it prints is
 * all one stream.
 *
 * @param load - Brings the optional package.
 * @throws What is wrong, when the optional package for this is not there or the system has no terminal to give.
 */
export async function startInTerminal(
  { file, args, cwd, env }: ChildStart,
  load: () => Promise<Pty> = () => import("@lydell/node-pty"),
): Promise<ChildConnection> {
  const { spawn } = await loaded(load);
  const terminal = spawn(file, [...args], { name: env.TERM ?? "dumb", cols: 80, rows: 24, cwd, env, encoding: null });
  const letGo = holdOpen(terminal);
  let hasEnded = false;
  const exit = new Promise<ChildExit>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      hasEnded = true;
      letGo();
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

/** Why no command can have a terminal here; absent where it can. */
export async function terminalProblem(): Promise<string | undefined> {
  return await loaded(() => import("@lydell/node-pty")).then(() => undefined, errorText);
}

/** The package is optional: where it has no binary, or was left out, only commands without a terminal run. */
async function loaded(load: () => Promise<Pty>): Promise<Pty> {
  try {
    return await load();
  } catch (error) {
    const [reason] = errorText(error).split("\n");
    const problem = `a command with tty needs the package @lydell/node-pty, which could not be loaded (${reason})`;
    throw new Error(`${problem}; install it, or run the command without tty`);
  }
}

/**
 * Keeps the program's side of the terminal open until the package has told of its end, a fifth of a second after it: a
 * terminal that nobody has open is hung up, and what had not been read of it is lost.
 */
function holdOpen(terminal: IPty & { readonly ptsName?: string }): () => void {
  try {
    const fd = openSync(terminal.ptsName ?? "", files.O_RDWR | files.O_NOCTTY);
    return () => closeSync(fd);
  } catch {
    return () => undefined;
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
