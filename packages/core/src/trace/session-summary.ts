import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { readGoalInput } from "../omnimessage/goal-input.ts";
import { isSessionMeta, isType } from "../omnimessage/guards.ts";
import { readMessages } from "../omnimessage/json-lines.ts";
import type { OmniMessage, SessionMetaPayload } from "../omnimessage/message.ts";
import { contextFile, contextNumbers } from "./context-files.ts";
import { sessionStartedAt } from "./session-id.ts";
import type { SessionPaths } from "./session-paths.ts";

/** What a list of sessions shows of one. */
export interface SessionSummary {
  readonly id: string;
  /** ISO 8601 UTC, to the second. */
  readonly startedAt: string;
  /** ISO 8601 UTC, when the last record was written. */
  readonly updatedAt: string;
  /** This and the next two are absent when the head of the trace cannot be read. */
  readonly workspace?: string;
  readonly provider?: string;
  readonly modelId?: string;
  /** How the session came about where that was not in the usual way: `demo`, `replay`. */
  readonly source?: string;
  /** Absent until the session has been given one. */
  readonly title?: string;
  /** Of all contexts. */
  readonly bytes: number;
  /** How many model contexts there are; 0 where this process may not read them. */
  readonly contexts: number;
  /** The beginning of the first user text on one line, at most 120 characters; absent when the head holds none. */
  readonly firstText?: string;
  /** Nothing but `session_meta` is on record. */
  readonly empty: boolean;
}

/** Sums a session up from the head of its first file and the sizes of all; `undefined` for one that recorded nothing. */
export async function readSessionSummary(paths: SessionPaths, id: string): Promise<SessionSummary | undefined> {
  const contexts = contextNumbers(paths.traceDir).map((context) => contextFile(paths.traceDir, context));
  const first = contexts[0];
  if (first === undefined) return undefined;
  const stats = await Promise.all(contexts.map((file) => stat(file)));
  const bytes = stats.reduce((sum, { size }) => sum + size, 0);
  const { meta, records, firstText } = await readHead(first);
  const title = await readTitle(paths.stateFile);
  return {
    id,
    startedAt: sessionStartedAt(id),
    updatedAt: new Date(Math.max(...stats.map(({ mtimeMs }) => mtimeMs))).toISOString(),
    ...(meta && { workspace: meta.workspace, provider: meta.provider, modelId: meta.model_id }),
    ...(meta?.source !== undefined && { source: meta.source }),
    ...(title !== undefined && { title }),
    bytes,
    contexts: contexts.length,
    ...(firstText !== undefined && { firstText }),
    empty: records === 0 && bytes <= MAX_HEAD_BYTES && contexts.length === 1,
  };
}

const MAX_HEAD_BYTES = 4 * 1024 * 1024;

interface TraceHead {
  meta?: SessionMetaPayload;
  /** Records beside `session_meta`. */
  records: number;
  firstText?: string;
}

/** Input stands before the first request, so that nothing is looked for behind it. */
async function readHead(file: string): Promise<TraceHead> {
  const head: TraceHead = { records: 0 };
  for await (const entry of readMessages(createReadStream(file, { end: MAX_HEAD_BYTES - 1 }))) {
    if ("problem" in entry) continue;
    const { message } = entry;
    if (isSessionMeta(message)) head.meta ??= message.payload;
    else {
      head.records += 1;
      const text = userText(message);
      if (text !== undefined) return { ...head, firstText: shorten(text) };
      if (isType(message, "request_begin")) break;
    }
  }
  return head;
}

/** What a person, or a program in their place, said. */
function userText(message: OmniMessage): string | undefined {
  if (!isType(message, "text") || message.payload.role !== "user") return undefined;
  return message.payload.sender === "harness" ? readGoalInput(message)?.body : message.payload.text;
}

function shorten(text: string): string {
  const characters = [...text.replace(/\s+/g, " ").trim()];
  if (characters.length <= MAX_TEXT_CHARACTERS) return characters.join("");
  return `${characters.slice(0, MAX_TEXT_CHARACTERS - 1).join("")}…`;
}

const MAX_TEXT_CHARACTERS = 120;

/** A title is a convenience: what cannot be read counts as none. */
async function readTitle(stateFile: string): Promise<string | undefined> {
  try {
    const { title } = JSON.parse(await readFile(stateFile, "utf8")) as { title?: unknown };
    return typeof title === "string" ? title : undefined;
  } catch {
    return undefined;
  }
}
