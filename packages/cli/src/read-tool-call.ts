import { addAbortSignal, type Readable } from "node:stream";
import { RookeryError } from "@rookery/core";
import { FAILED } from "./exit-code.ts";
import type { Interruption } from "./interruption.ts";
import type { Io } from "./io.ts";
import { readInput } from "./read-input.ts";
import type { ToolCalls } from "./tool-calls.ts";

/**
 * The arguments of one call: the given JSON, standard input for `-`, `{}` without any. They are checked here, since no
 * model reads what the environment would say of them.
 *
 * @throws {RookeryError} `usage` for anything but a JSON object.
 */
export async function readArguments(json: string | undefined, io: Io): Promise<string> {
  const text = json === "-" ? await readInput("-", io) : (json ?? "{}");
  if (isObject(parsed(text))) return text;
  throw new RookeryError("usage", `the arguments are not a JSON object: ${quoted(text)}`, {
    hint: `write them like '{"NAME": "VALUE"}'`,
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
  let line = 0;
  for await (const text of textLines(bytesUntil(interruption.signal, io.stdin))) {
    line += 1;
    if (text.trim() !== "" && (await answerLine(calls, line, text.trim())) !== 0) exitCode = FAILED;
  }
  return interruption.exitCode ?? exitCode;
}

/** @returns The exit code of the line. */
async function answerLine(calls: ToolCalls, line: number, text: string): Promise<number> {
  const value = parsed(text);
  const given: Record<string, unknown> = isObject(value) ? value : {};
  const { name, arguments: args = {} } = given;
  const isCall = typeof name === "string" && isObject(args);
  const argumentsJson = isCall ? written(args) : undefined;
  if (isCall && argumentsJson !== undefined) return calls.run({ name, arguments: argumentsJson }, line);
  let problem = 'is not { "name": STRING, "arguments": OBJECT }';
  if (value === undefined) problem = `is not JSON: ${quoted(text)}`;
  if (isCall) problem = "has arguments that are nested too deeply";
  return calls.refuse({ name: typeof name === "string" ? name : "", arguments: text }, line, problem);
}

/** `undefined` for what is nested more deeply than the stack allows; reading is not limited so. */
function written(args: Record<string, unknown>): string | undefined {
  try {
    return JSON.stringify(args);
  } catch {
    return undefined;
  }
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
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

/** Lines end with LF and nothing else, so that U+2028 inside a string is data; the last one needs none. */
async function* textLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // Joined once, so that a line of many chunks costs no more than its length.
  let open: string[] = [];
  for await (const chunk of chunks) {
    const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
    open.push(first);
    for (const other of others) {
      yield open.join("");
      open = [other];
    }
  }
  yield [...open, decoder.decode()].join("");
}

/** Ends early when the signal fires, also while nothing comes. */
async function* bytesUntil(signal: AbortSignal, stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of addAbortSignal(signal, stream)) yield Buffer.from(chunk);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
