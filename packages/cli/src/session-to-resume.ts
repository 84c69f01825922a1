import { createInterface } from "node:readline/promises";
import { type Agent, RookeryError, type SessionSummary } from "@rookery/core";
import type { Io } from "./io.ts";
import { discardTyped } from "./prompt-approval.ts";
import { oneLine } from "./render/neutralise.ts";
import { sessionOfPart } from "./session-of-part.ts";

/**
 * What `--resume [ID]` says. The value may be left out, so that words behind the flag are the prompt, where there is no
 * other: an id has no blanks.
 *
 * @param value - `true` without one; absent without the flag.
 * @param argument - The prompt, where there is one beside it.
 */
export function readResume(
  value: string | true | undefined,
  argument: string | undefined,
): { readonly resume?: string | true; readonly prompt?: string } {
  if (value === undefined) return {};
  const isPrompt = value !== true && argument === undefined && /\s/.test(value.trim());
  return isPrompt ? { resume: true, prompt: value } : { resume: value };
}

/** The flags that say which session goes on; `resume` is `true` without an id. */
export interface ResumeFlags {
  readonly resume?: string | true;
  readonly continue?: true;
}

/**
 * The session that the flags mean: by its id or a part of it, the latest of the workspace, or one that is picked from a
 * list at a terminal. Absent without such a flag, and when the signal fires before one is picked.
 *
 * @throws {RookeryError} `usage` when both flags are there, or an id is to be picked and nobody sits at a terminal;
 *   `session-not-found`.
 */
export async function sessionToResume(
  agent: Agent,
  { resume, continue: goesOn }: ResumeFlags,
  workspace: string,
  io: Io,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if (resume !== undefined && goesOn) {
    throw new RookeryError("usage", "--resume came together with --continue", { hint: "use one of them" });
  }
  if (goesOn) return latest(agent, workspace);
  if (resume === true) return pick(await agent.listSessions(), io, signal);
  return resume === undefined ? undefined : sessionOfPart(agent, resume);
}

async function latest(agent: Agent, workspace: string): Promise<string> {
  const id = await agent.latestSessionId({ workspace });
  if (id !== undefined) return id;
  throw new RookeryError("session-not-found", `no session was recorded in ${workspace}`, {
    hint: "leave --continue out to start one, or name one of rookery sessions list with --resume ID",
  });
}

const MAX_SHOWN = 20;

async function pick(
  sessions: readonly SessionSummary[],
  io: Io,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const hint = "name one of rookery sessions list: --resume ID";
  if (!io.stdin.isTTY || !io.stderr.isTTY) {
    throw new RookeryError("usage", "--resume was given no id, and nobody sits at a terminal to pick one", { hint });
  }
  const all = sessions.filter(({ empty }) => !empty);
  const shown = all.slice(0, MAX_SHOWN);
  if (shown.length === 0) throw new RookeryError("session-not-found", "no session is recorded yet");
  await discardTyped(io.stdin);
  if (signal?.aborted) return undefined;
  for (const [at, { updatedAt, workspace = "?", title, firstText = "" }] of shown.entries()) {
    const when = updatedAt.slice(0, 16).replace("T", " ");
    io.stderr.write(`${String(at + 1).padStart(2)}  ${when}  ${oneLine(workspace)}  ${oneLine(title ?? firstText)}\n`);
  }
  if (all.length > shown.length) io.stderr.write(`    and ${all.length - shown.length} more: rookery sessions list\n`);
  const lines = createInterface({ input: io.stdin, output: io.stderr, terminal: false });
  const close = (): void => lines.close();
  signal?.addEventListener("abort", close);
  try {
    for (;;) {
      const answer = await Promise.race([lines.question(`Which one? 1 to ${shown.length}: `), ended(lines)]);
      if (signal?.aborted) return undefined;
      const chosen = answer === undefined ? undefined : shown[Number(answer.trim()) - 1];
      if (chosen) return chosen.id;
      if (answer === undefined) throw new RookeryError("usage", "no session was picked", { hint });
    }
  } finally {
    signal?.removeEventListener("abort", close);
    lines.close();
  }
}

function ended(lines: NodeJS.EventEmitter): Promise<undefined> {
  return new Promise((resolve) => lines.once("close", () => resolve(undefined)));
}
