import { addAbortSignal, type Readable } from "node:stream";
import { RookeryError } from "@rookery/core";
import { readJsonLines } from "@rookery/core/omnimessage";
import { FAILED } from "./exit-code.ts";
import type { Interruption } from "./interruption.ts";
import type { Io } from "./io.ts";
import { readInput } from "./read-input.ts";
import type { ToolCall, ToolCalls } from "./tool-calls.ts";

/**
 * The arguments of one call: the given JSON, standard input for `-`, `{}` without any. They are checked here, since no
 * model reads what the environment would say of them.
 *
 * @throws {RookeryError} `usage` for anything but a JSON object.
 */
export async function readArguments(json: string | undefined, io: Io): Promise<string> {
  const text = json === "-" ? await readInput("-", io) : (json ?? "{}");
  if (isObject(parsed(text))) return text;
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  throw new RookeryError("usage", `the arguments are not a JSON object: ${JSON.stringify(shown)}`, {
    hint: `write them like '{"path": "a.txt"}'`,
  });
}

/**
 * Makes the call of each line of standard input, one behind the other; a line that cannot be used is answered too, and
 * the next one goes on.
 *
 * @returns The exit code: 0 when every call completed.
 */
export async function callLines(calls: ToolCalls, io: Io, interruption: Interruption): Promise<number> {
  let exitCode = 0;
  for await (const read of readJsonLines(bytesUntil(interruption.signal, io.stdin))) {
    const call = "problem" in read ? undefined : toolCall(read.value);
    const problem = "problem" in read ? read.problem : 'is not { "name": STRING, "arguments": OBJECT }';
    const code = call ? await calls.run(call) : await calls.refuse(read.line, problem);
    if (code !== 0) exitCode = FAILED;
  }
  return interruption.exitCode ?? exitCode;
}

function toolCall(value: unknown): ToolCall | undefined {
  if (!isObject(value) || typeof value.name !== "string") return undefined;
  const { name, arguments: args = {} } = value;
  return isObject(args) ? { name, arguments: JSON.stringify(args) } : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Ends early when the signal fires, also while nothing comes. */
async function* bytesUntil(signal: AbortSignal, stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of addAbortSignal(signal, stream)) yield Buffer.from(chunk);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
