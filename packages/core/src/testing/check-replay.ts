import { cp } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { AgentOptions } from "../agent/agent-options.ts";
import { beforeHooks } from "../engine/hooks.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { type ReplayOptions, type ReplayReport, replayTrace } from "../session/replay/replay-trace.ts";
import { readTraceAt } from "../trace/read-trace-at.ts";
import { tempAgent } from "./temp-agent.ts";

export interface CheckReplayOptions extends Pick<ReplayOptions, "ignore" | "signal"> {
  /** A directory that holds what was in the workspace when the session began; the tools work in a copy. Default: nothing was. */
  readonly workspace?: string | URL;
  /** Puts the rest in its place, before the session begins. */
  readonly prepare?: (workspaceDir: string) => void | Promise<void>;
  /**
   * The agent under test: its tools, hooks, environment. With a `beforeToolCall` hook it decides itself what to block and to
   * replace; without one, what a hook did in the record is done again.
   */
  readonly agent?: AgentOptions;
}

/**
 * Replays a recorded session on an agent of today, in a fresh workspace, and compares every call with the record. What
 * the record allowed really runs; see `replayTrace`.
 *
 * @param trace - A trace file, a session's directory, an export, or the records themselves.
 * @returns The report, where nothing differs.
 * @throws {Error} With every difference; also for a trace that cannot be read to its end, or holds no reply.
 */
export async function checkReplay(
  trace: string | URL | Iterable<OmniMessage>,
  { workspace, prepare, agent: agentOptions = {}, ...options }: CheckReplayOptions = {},
): Promise<ReplayReport> {
  const records = typeof trace === "string" || trace instanceof URL ? await recordsAt(pathOf(trace)) : trace;
  await using temp = await tempAgent(agentOptions);
  const { agent, workspaceDir } = temp;
  const ownHooks = beforeHooks(agentOptions.hooks ?? {}).length > 0;
  // A link stays as it is: made absolute, it would lead back to what is copied.
  if (workspace !== undefined) await cp(pathOf(workspace), workspaceDir, { recursive: true, verbatimSymlinks: true });
  await prepare?.(workspaceDir);
  const replay = replayTrace(records, { ...options, agent, workspaceDir, ownHooks });
  let step = await replay.next();
  while (!step.done) step = await replay.next();
  if (!step.value.equal) throw new Error(differences(step.value));
  return step.value;
}

async function recordsAt(path: string): Promise<OmniMessage[]> {
  const records: OmniMessage[] = [];
  for await (const entry of readTraceAt(path)) {
    if ("problem" in entry) throw new Error(`${entry.problem}; a trace under test must be whole`);
    records.push(entry.message);
  }
  return records;
}

function differences({ recordedSessionId, calls, problems }: ReplayReport): string {
  const lines = calls.flatMap(({ name, arguments: json, difference }) =>
    difference === undefined ? [] : [`${name} ${json}`, ...difference.split("\n").map((line) => `  ${line}`)],
  );
  return [`the replay of ${recordedSessionId} differs from its record:`, ...lines, ...problems].join("\n");
}

function pathOf(place: string | URL): string {
  return place instanceof URL ? fileURLToPath(place) : place;
}
