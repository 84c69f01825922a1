import { createReadStream } from "node:fs";
import { readMessages } from "../../omnimessage/json-lines.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import { addMissingEnding } from "./ending.ts";
import { ContextReplay, type RestoredContext } from "./restore-context.ts";
import { SessionMemory } from "./session-memory.ts";

/** A session as its trace leaves it. */
export interface RestoredSession extends RestoredContext {
  readonly memory: SessionMemory;
  /** What a killed harness did not come to record; in `log` already, to be written before anything else. */
  readonly ending: readonly OmniMessage[];
}

/**
 * Reads a session back from its trace: the context of the last file, and of all what spans contexts.
 *
 * Memory is that of the last context's history; the time is linear in the bytes. Damaged lines are left out.
 *
 * @param files - The files of the session's contexts, oldest first and at least one.
 * @throws {RookeryError} `trace-corrupt` when the last file does not begin with a `session_meta`; otherwise what the file
 *   system reports.
 */
export async function restoreSession(files: readonly string[]): Promise<RestoredSession> {
  const memory = new SessionMemory();
  const last = files.at(-1) ?? "";
  for (const file of files.slice(0, -1)) {
    for await (const entry of readMessages(createReadStream(file))) if ("message" in entry) memory.add(entry.message);
  }
  const replay = new ContextReplay(last);
  for await (const entry of readMessages(createReadStream(last))) {
    if ("message" in entry) {
      memory.add(entry.message);
      replay.add(entry.message);
    } else if (!entry.torn) replay.skip();
  }
  const context = replay.end();
  return { ...context, memory, ending: addMissingEnding(context.log) };
}
