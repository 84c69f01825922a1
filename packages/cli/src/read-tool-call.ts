import { addAbortSignal, type Readable } from "node:stream";
import { RookeryError } from "@rookery/core";
import { FAILED } from "./exit-code.ts";
import { inputLines } from "./input-lines.ts";
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
  for await (const { text, problem } of inputLines(bytesUntil(interruption.signal, io.stdin))) {
    line += 1;
    if (text.trim() === "" && problem === undefined) continue;
    if ((await answerLine(calls, line, text.trim(), problem)) !== 0) exitCode = FAILED;
  }
  return interruption.exitCode ?? exitCode;
}

/** @returns The exit code of the line. */
async function answerLine(calls: ToolCalls, line: number, text: string, problem?: string): Promise<number> {
  const read = problem === undefined ? readLine(text) : { problem };
  if ("call" in read) return calls.run(read.call, line);
  return calls.refuse({ name: read.name ?? "", arguments: text }, line, read.problem);
}

type Read = { readonly call: ToolCall } | { readonly problem: string; readonly name?: string };

/** Arguments that come as text are the JSON that a model would send. */
function readLine(text: string): Read {
  const value = parsed(text);
  if (value === undefined) return { problem: `is not JSON: ${quoted(text)}` };
  const { name, arguments: args = {} } = isObject(value) ? value : {};
  if (typeof name !== "string") return { problem: FORM };
  if (typeof args === "string") return { call: { name, arguments: args } };
  if (!isObject(args)) return { name, problem: FORM };
  const json = written(args);
  return json === undefined
    ? { name, problem: "has arguments that are nested too deeply" }
    : { call: { name, arguments: json } };
}

const FORM = 'is not { "name": STRING, "arguments": OBJECT }';

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

/** Ends early when the signal fires, also while nothing comes. */
async function* bytesUntil(signal: AbortSignal, stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of addAbortSignal(signal, stream)) yield Buffer.from(chunk);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
