import { createReadStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { errorCode, errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";

/** The file of one model context, counted from 1: `001.jsonl` and so on. */
export function contextFile(traceDir: string, context: number): string {
  return join(traceDir, `${String(context).padStart(3, "0")}.jsonl`);
}

/**
 * The numbers of the contexts a trace holds, in order; empty for a trace without files or without a directory.
 *
 * @throws {RookeryError} `trace-corrupt` for a directory that cannot be listed.
 */
export function contextNumbers(traceDir: string): number[] {
  return namesIn(traceDir)
    .flatMap((name) => CONTEXT_FILE.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/** As `contextFile` names them: any other spelling of a number would be the same context twice. */
const CONTEXT_FILE = /^(\d{3}|[1-9]\d{3,8})\.jsonl$/;

/**
 * The bytes of a context file.
 *
 * @throws {RookeryError} `trace-corrupt`, at a `next()`, for one that cannot be read.
 */
export async function* readContextFile(file: string, highWaterMark?: number): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file, { highWaterMark });
  } catch (error) {
    throw unreadableTrace(file, error);
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw unreadableTrace(directory, error);
  }
}

function unreadableTrace(path: string, error: unknown): RookeryError {
  const what = errorCode(error) ?? errorText(error);
  return new RookeryError("trace-corrupt", `cannot read a trace at ${JSON.stringify(path)}: ${what}`, {
    hint: "see that it is there and that you may read it",
    cause: error,
  });
}
