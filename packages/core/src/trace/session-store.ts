import { type Dirent, existsSync } from "node:fs";
import { readdir, realpath, rm } from "node:fs/promises";
import { errorCode, errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import { contextFile, contextNumbers } from "./context-files.ts";
import { acquireLock } from "./lock.ts";
import { readTrace, type TraceEntry } from "./read-trace.ts";
import { isSessionId, sessionStartedAt } from "./session-id.ts";
import { type SessionPaths, sessionPaths, tracesDir } from "./session-paths.ts";
import { readSessionSummary, type SessionSummary } from "./session-summary.ts";

/**
 * The sessions of an agent, the one with the latest record first.
 *
 * Reads the head of each trace and no more, so that its length does not matter. A damaged trace is listed with what can
 * be told about it.
 */
export async function listSessions(agentDir: string): Promise<SessionSummary[]> {
  const summaries: SessionSummary[] = [];
  for (const id of await sessionIds(agentDir)) {
    const summary = await readSessionSummary(sessionPaths(agentDir, id), id).catch((error: unknown) =>
      errorCode(error) === "ENOENT" ? undefined : unreadSummary(id),
    );
    if (summary !== undefined) summaries.push(summary);
  }
  return summaries.sort((a, b) => compare(b.updatedAt, a.updatedAt) || compare(b.id, a.id));
}

/**
 * The session with the latest record, of those in which something was said.
 *
 * @param options.workspace - Only sessions of this directory, whichever links lead to it.
 */
export async function latestSessionId(
  agentDir: string,
  options: { workspace?: string } = {},
): Promise<string | undefined> {
  const wanted = options.workspace && (await realPathOf(options.workspace));
  for (const { id, empty, workspace } of await listSessions(agentDir)) {
    if (empty) continue;
    if (!wanted || (workspace !== undefined && (await realPathOf(workspace)) === wanted)) return id;
  }
  return undefined;
}

/**
 * What a session recorded, from its first context to its newest; each context begins with its `session_meta`.
 *
 * @throws {RookeryError} `session-not-found`, with the nearest ids, at the first `next()`.
 */
export async function* readSession(agentDir: string, sessionId: string): AsyncGenerator<TraceEntry> {
  for (const file of await contextFiles(agentDir, sessionId)) yield* readTrace(file);
}

/**
 * The files of a session's contexts, oldest first and at least one; a resumed session goes on with the last.
 *
 * @throws {RookeryError} `session-not-found`, with the nearest ids.
 */
export async function contextFiles(agentDir: string, sessionId: string): Promise<string[]> {
  const { traceDir } = await findSession(agentDir, sessionId);
  const files = contextNumbers(traceDir).map((context) => contextFile(traceDir, context));
  if (files.length === 0) throw new RookeryError("session-not-found", `session ${sessionId} recorded nothing`);
  return files;
}

/**
 * Deletes a session: its trace, its scratchpad with all archives, and what undo kept.
 *
 * @param endProcesses - Ends what the session left running; called while nobody else can have the session open.
 * @throws {RookeryError} `session-not-found`, with the nearest ids; `session-locked` while a living process has it open.
 */
export async function removeSession(
  agentDir: string,
  sessionId: string,
  endProcesses: (processesFile: string) => Promise<void> = async () => undefined,
): Promise<void> {
  const { lockFile, processesFile, scratchpadDir, undoDir, traceDir } = await findSession(agentDir, sessionId);
  const lock = acquireLock(lockFile);
  try {
    await endProcesses(processesFile);
    // The trace goes last: a removal that was interrupted can be repeated.
    for (const directory of [scratchpadDir, undoDir, traceDir]) await rm(directory, { recursive: true, force: true });
  } finally {
    lock.release();
  }
}

async function findSession(agentDir: string, sessionId: string): Promise<SessionPaths> {
  const ids = await sessionIds(agentDir);
  if (ids.includes(sessionId)) return sessionPaths(agentDir, sessionId);
  // Tools that were run without a session leave their archives only.
  if (isSessionId(sessionId)) {
    const paths = sessionPaths(agentDir, sessionId);
    if (existsSync(paths.scratchpadDir)) return paths;
  }
  const nearest = ids.sort((a, b) => nearness(b, sessionId) - nearness(a, sessionId) || compare(b, a)).slice(0, 3);
  throw new RookeryError("session-not-found", `no session is named ${JSON.stringify(sessionId)}`, {
    hint: nearest.length > 0 ? `the nearest are ${nearest.join(", ")}` : "start a new one; this agent has none yet",
  });
}

async function sessionIds(agentDir: string): Promise<string[]> {
  const entries = await entriesOf(tracesDir(agentDir));
  return entries.filter((entry) => entry.isDirectory() && isSessionId(entry.name)).map(({ name }) => name);
}

/** One that cannot be read, as when somebody else owns it, hides no other. */
function unreadSummary(id: string): SessionSummary {
  const startedAt = sessionStartedAt(id);
  return { id, startedAt, updatedAt: startedAt, bytes: 0, contexts: 0, empty: false };
}

async function entriesOf(directory: string): Promise<Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return [];
    throw new RookeryError("root-unwritable", `cannot read ${directory}: ${code ?? errorText(error)}`, {
      hint: "make it a directory that you may read, or name another data directory with --root or ROOKERY_HOME",
      cause: error,
    });
  }
}

/** How much of an id the text spells: all of it where it is a part, else the length of their common beginning. */
function nearness(id: string, text: string): number {
  if (text !== "" && id.includes(text)) return id.length;
  let length = 0;
  while (length < text.length && text[length] === id[length]) length += 1;
  return length;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function realPathOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
