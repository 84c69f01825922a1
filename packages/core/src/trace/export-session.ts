import { RookeryError } from "../errors/rookery-error.ts";
import { isSessionMeta } from "../omnimessage/guards.ts";
import { readContextFile } from "./context-files.ts";
import { readRecordLines } from "./record-lines.ts";
import { contextFiles } from "./session-store.ts";

/** A line of an export with its LF, or what a person should know about one that was left out. */
export type ExportEntry = { readonly line: string } | { readonly problem: string };

/**
 * A session as one portable text of JSON lines: its context files one after another, each beginning with its
 * `session_meta`. Lines that are no records are left out and told of; all others are byte for byte as they were recorded.
 *
 * @throws {RookeryError} At a `next()`: `session-not-found`, with the nearest ids; `trace-corrupt` for a context whose
 *   head, or which itself, cannot be read.
 */
export async function* exportSession(agentDir: string, sessionId: string): AsyncGenerator<ExportEntry> {
  for (const file of await contextFiles(agentDir, sessionId)) {
    let isHead = true;
    for await (const entry of readRecordLines(readContextFile(file))) {
      if ("problem" in entry) {
        const what = entry.torn ? "was cut off when it was written" : entry.problem;
        yield { problem: `${file}: line ${entry.line} ${what}; it is left out` };
        continue;
      }
      if (isHead && !isSessionMeta(entry.message)) throw headless(file, entry.line);
      isHead = false;
      yield { line: `${entry.text}\n` };
    }
  }
}

function headless(file: string, line: number): RookeryError {
  return new RookeryError("trace-corrupt", `cannot export ${file}: line ${line} stands where its session_meta should`, {
    hint: "mend the head of the file; without it nobody can tell whose records these are",
  });
}
