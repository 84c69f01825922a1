import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fsyncSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorCode, errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import { isSessionMeta } from "../omnimessage/guards.ts";
import { toJsonLine } from "../omnimessage/json-lines.ts";
import type { OmniMessage, SessionMetaPayload } from "../omnimessage/message.ts";
import { contextFile } from "./context-files.ts";
import { openPrivateFile } from "./private-files.ts";
import { type RecordLine, readRecordLines } from "./record-lines.ts";
import { isSessionId, newSessionId } from "./session-id.ts";
import { sessionPaths, tracesDir } from "./session-paths.ts";
import { writeWhole } from "./write-whole.ts";

export interface ImportOptions {
  /** Gives the session a fresh id, so that one of the same id can stay; default false. */
  readonly asNew?: boolean;
}

export interface ImportedSession {
  readonly sessionId: string;
  readonly contexts: number;
  /** The input ended in the middle of a line, which was left out. */
  readonly torn: boolean;
}

/**
 * Writes what `exportSession` made as a session of an agent, for its owner alone: wholly, or not at all. Only the lines
 * are looked at; nothing in them is followed or run. Memory holds one line. What a killed import left is removed a day later.
 *
 * @throws {RookeryError} `trace-corrupt`, with the lines that are wrong; `session-exists`; `root-unwritable`. What
 *   `chunks` throws passes through.
 */
export async function importSession(
  agentDir: string,
  chunks: AsyncIterable<Uint8Array>,
  { asNew = false }: ImportOptions = {},
): Promise<ImportedSession> {
  removeLeftovers(agentDir);
  const draft = new Draft(agentDir, asNew ? newSessionId() : undefined);
  const problems: string[] = [];
  let torn = false;
  try {
    for await (const entry of readRecordLines(chunks)) {
      if ("problem" in entry && entry.torn) torn = true;
      else {
        const problem = "problem" in entry ? entry.problem : draft.add(entry);
        if (problem !== undefined) problems.push(`line ${entry.line} ${problem}`);
        if (problems.length === MAX_PROBLEMS) break;
      }
    }
    const unfinished = problems.length === 0 ? draft.unfinished() : undefined;
    if (unfinished !== undefined) problems.push(unfinished);
    if (problems.length > 0) throw refused(problems);
    return { ...draft.install(), torn };
  } finally {
    draft.discard();
  }
}

/** Told at once; whoever mends a file wants more than the first. */
const MAX_PROBLEMS = 3;

function refused(problems: readonly string[]): RookeryError {
  return new RookeryError("trace-corrupt", `nothing was imported: ${problems.join("; ")}`, {
    hint: "take the file as rookery sessions export wrote it",
  });
}

/** How the names of drafts begin, which no session's does. */
const DRAFT = ".import-";

/** An import that is still going on writes to its draft, or has not been read to for a whole day. */
const LEFTOVER_MS = 24 * 60 * 60 * 1000;

function removeLeftovers(agentDir: string): void {
  const directory = tracesDir(agentDir);
  try {
    for (const name of readdirSync(directory).filter((entry) => entry.startsWith(DRAFT))) {
      const draft = join(directory, name);
      if (Date.now() - statSync(draft).mtimeMs > LEFTOVER_MS) rmSync(draft, { recursive: true, force: true });
    }
  } catch {}
}

/** The files of an import under another name, until they are all there. */
class Draft {
  readonly #agentDir: string;
  readonly #directory: string;
  readonly #newId: string | undefined;
  #originalId: string | undefined;
  #contexts = 0;
  #fd: number | undefined;
  /** Records that the head of the open context announced and that have not come yet. */
  #missing = 0;

  constructor(agentDir: string, newId: string | undefined) {
    this.#agentDir = agentDir;
    this.#newId = newId;
    this.#directory = join(tracesDir(agentDir), `${DRAFT}${randomBytes(4).toString("hex")}`);
  }

  /** @returns What is wrong with the line, to follow its number. */
  add({ text, message }: RecordLine): string | undefined {
    if (isSessionMeta(message)) return this.#begin(text, message);
    if (this.#originalId === undefined) return "is no session_meta, with which an export begins";
    this.#missing -= 1;
    this.#write(`${text}\n`);
    return undefined;
  }

  /** @returns What is missing at the end. */
  unfinished(): string | undefined {
    if (this.#originalId === undefined) return "it holds no records";
    return this.#missing > 0 ? `the last context lacks ${this.#missing} of the records it carries over` : undefined;
  }

  /** Makes the draft the session. */
  install(): { sessionId: string; contexts: number } {
    const sessionId = this.#newId ?? this.#originalId ?? "";
    const { traceDir } = sessionPaths(this.#agentDir, sessionId);
    this.#close();
    try {
      renameSync(this.#directory, traceDir);
    } catch (error) {
      if (["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(errorCode(error) ?? "")) throw exists(sessionId);
      throw unwritable(traceDir, error);
    }
    return { sessionId, contexts: this.#contexts };
  }

  /** Removes what was not installed; what cannot be removed is no session either. */
  discard(): void {
    try {
      if (this.#fd !== undefined) closeSync(this.#fd);
      rmSync(this.#directory, { recursive: true, force: true });
    } catch {}
  }

  #begin(text: string, message: OmniMessage<SessionMetaPayload>): string | undefined {
    const { session_id: id, carried = 0 } = message.payload;
    if (!isSessionId(id)) return `names the session ${JSON.stringify(id.slice(0, 80))}, which is not a session id`;
    if (!Number.isSafeInteger(carried) || carried < 0)
      return `carries over ${carried} records, which is no number of them`;
    if (this.#originalId !== undefined && id !== this.#originalId) return `begins another session, ${id}`;
    if (this.#missing > 0) return `comes before ${this.#missing} of the records that the context before carries over`;
    if (this.#newId === undefined && existsSync(sessionPaths(this.#agentDir, id).traceDir)) throw exists(id);
    this.#originalId = id;
    this.#missing = carried;
    this.#close();
    this.#contexts += 1;
    const renamed = { ...message, payload: { ...message.payload, session_id: this.#newId ?? id } };
    this.#write(this.#newId === undefined ? `${text}\n` : toJsonLine(renamed));
    return undefined;
  }

  #write(line: string): void {
    const file = contextFile(this.#directory, this.#contexts);
    try {
      this.#fd ??= openPrivateFile(file, "create");
      writeWhole(this.#fd, Buffer.from(line));
    } catch (error) {
      throw unwritable(file, error);
    }
  }

  #close(): void {
    if (this.#fd === undefined) return;
    fsyncSync(this.#fd);
    closeSync(this.#fd);
    this.#fd = undefined;
  }
}

function exists(sessionId: string): RookeryError {
  return new RookeryError("session-exists", `nothing was imported: session ${sessionId} is here already`, {
    hint: "import it under a fresh id with --as-new, or remove the other one first",
  });
}

function unwritable(path: string, error: unknown): RookeryError {
  return new RookeryError("root-unwritable", `nothing was imported: cannot write ${path}: ${errorText(error)}`, {
    hint: "make room and rights for it, or name another data directory with --root or ROOKERY_HOME",
    cause: error,
  });
}
