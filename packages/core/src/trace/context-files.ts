import { readdirSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../errors/error-text.ts";

/** The file of one model context, counted from 1: `001.jsonl` and so on. */
export function contextFile(traceDir: string, context: number): string {
  return join(traceDir, `${String(context).padStart(3, "0")}.jsonl`);
}

/** The numbers of the contexts a trace holds, in order; empty for a trace without files or without a directory. */
export function contextNumbers(traceDir: string): number[] {
  return namesIn(traceDir)
    .flatMap((name) => CONTEXT_FILE.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

const CONTEXT_FILE = /^(\d{3,})\.jsonl$/;

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}
