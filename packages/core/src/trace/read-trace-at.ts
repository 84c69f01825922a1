import { stat } from "node:fs/promises";
import { errorCode, errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import { contextFile, contextNumbers } from "./context-files.ts";
import { readTrace, type TraceEntry } from "./read-trace.ts";

/**
 * The records at a path, in order: of a session's directory with all its contexts, of one trace file, or of an export.
 *
 * @throws {RookeryError} `trace-corrupt` where nothing can be read, at the first `next()`.
 */
export async function* readTraceAt(path: string): AsyncGenerator<TraceEntry> {
  for (const file of await filesAt(path)) yield* readTrace(file);
}

async function filesAt(path: string): Promise<string[]> {
  const found = await stat(path).catch((error: unknown) => {
    throw unreadable(path, errorCode(error) ?? errorText(error), error);
  });
  if (found.isFile()) return [path];
  if (!found.isDirectory()) throw unreadable(path, "it is neither a file nor a directory");
  const files = contextNumbers(path).map((context) => contextFile(path, context));
  if (files.length === 0) throw unreadable(path, "the directory holds no 001.jsonl");
  return files;
}

function unreadable(path: string, what: string, cause?: unknown): RookeryError {
  return new RookeryError("trace-corrupt", `cannot read a trace at ${JSON.stringify(path)}: ${what}`, {
    hint: "name a trace file, a session's directory, or what rookery sessions export wrote",
    cause,
  });
}
