import { type LineProblem, visitMessages } from "../../omnimessage/json-lines.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import { readContextFile } from "../../trace/context-files.ts";
import { addMissingEnding } from "./ending.ts";
import { ContextReplay, type RestoredContext } from "./restore-context.ts";
import { SessionMemory } from "./session-memory.ts";

/** A session as its trace leaves it. */
export interface RestoredSession extends RestoredContext {
  readonly memory: SessionMemory;
  /** What of the trace could not be read, for a person. */
  readonly damage: readonly string[];
  /** What a killed harness did not come to record; in `log` already, to be written before anything else. */
  readonly ending: readonly OmniMessage[];
}

/**
 * Reads a session back from its trace: the context of the last file, and of all what spans contexts.
 *
 * Memory is that of the last context's history; the time is linear in the bytes. Damaged lines are left out.
 *
 * @param files - The files of the session's contexts, oldest first and at least one.
 * @throws {RookeryError} `trace-corrupt` when the last file does not begin with a `session_meta`, or one cannot be read.
 */
export async function restoreSession(files: readonly string[]): Promise<RestoredSession> {
  const memory = new SessionMemory();
  const damage: string[] = [];
  const note = (file: string, { line, problem, torn }: LineProblem): void => {
    const what = torn ? "the last record was cut off when it was written and is left out" : `line ${line} ${problem}`;
    if (damage.length < MAX_TOLD) damage.push(`${file}: ${what}`);
  };
  const last = files.at(-1) ?? "";
  for (const file of files.slice(0, -1)) {
    await visitMessages(readContextFile(file, CHUNK_BYTES), (entry) => {
      if ("message" in entry) memory.add(entry.message);
      else note(file, entry);
    });
  }
  const replay = new ContextReplay(last);
  await visitMessages(readContextFile(last, CHUNK_BYTES), (entry) => {
    if ("message" in entry) {
      memory.add(entry.message);
      replay.add(entry.message);
    } else {
      note(last, entry);
      if (!entry.torn) replay.skip(`line ${entry.line} ${entry.problem}`);
    }
  });
  const context = replay.end();
  return { ...context, memory, damage, ending: addMissingEnding(context.log) };
}

const CHUNK_BYTES = 512 * 1024;
/** Of a trace that is damaged all over. */
const MAX_TOLD = 3;
