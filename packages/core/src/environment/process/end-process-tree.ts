import { execFile } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { processStats, readProcessStat } from "./process-list.ts";
import { findMarkedProcesses } from "./process-marker.ts";

/** Processes that belong together. */
export interface ProcessTree {
  /** The leader of a process group, alive or not. */
  readonly pid?: number | undefined;
  /** Carried by those that left the group (`findMarkedProcesses`). */
  readonly marker?: string | undefined;
}

/** What a process has after TERM to clean up (PE-029). */
export const GRACE_MS = 2000;
/** Looking is not cheap where there are many processes, so it is done less and less often. */
const FIRST_POLL_MS = 10;
const LAST_POLL_MS = 100;
/** How long to wait for processes to disappear that have been killed; one that hangs in the kernel may take for ever. */
export const KILL_WAIT_MS = 1000;

/**
 * Ends processes: TERM, KILL to what is left when `graceMs` have passed; with 0, KILL at once (PE-028 to PE-032).
 *
 * Resolves as soon as none is left, without waiting for the rest of the grace. What starts while its family is being
 * killed is killed as well.
 */
export async function endProcessTree(tree: ProcessTree, graceMs: number): Promise<void> {
  if (await isNobodyLeft(tree)) return;
  if (graceMs > 0) {
    await signalTree(tree, "SIGTERM");
    if (await isGoneWithin(tree, graceMs)) return;
  }
  const givesUpAt = performance.now() + KILL_WAIT_MS;
  do await signalTree(tree, "SIGKILL");
  while (!(await isGoneWithin(tree, FIRST_POLL_MS)) && performance.now() < givesUpAt);
}

/** The usual cases, known by one look: a command has ended, and with it its group; a session has left nothing behind. */
async function isNobodyLeft({ pid, marker }: ProcessTree): Promise<boolean> {
  if (pid === undefined) return marker === undefined || (await findMarkedProcesses(marker)).length === 0;
  if (marker !== undefined) return false;
  const plan = endProcessTreePlan(process.platform, pid);
  return plan.kind === "signal" && !sendSignal(plan.target, 0);
}

/** How the process tree of a group leader is reached: one signal to its group, or a program that knows how. */
export type EndProcessTreePlan =
  | { readonly kind: "signal"; readonly target: number }
  | { readonly kind: "program"; readonly file: string; readonly args: readonly string[] };

/** Windows knows neither process groups nor TERM: there `taskkill` ends the tree by force. */
export function endProcessTreePlan(platform: NodeJS.Platform, pid: number): EndProcessTreePlan {
  return platform === "win32"
    ? { kind: "program", file: "taskkill", args: ["/pid", String(pid), "/t", "/f"] }
    : { kind: "signal", target: -pid };
}

/** Sends a signal to the group of a leader; on Windows, whatever the signal, the whole tree is ended (PT-109). */
export async function signalGroup(leader: number, signal: NodeJS.Signals): Promise<void> {
  const plan = endProcessTreePlan(process.platform, leader);
  if (plan.kind === "signal") sendSignal(plan.target, signal);
  else await new Promise<void>((resolve) => execFile(plan.file, plan.args, () => resolve()));
}

/**
 * What Ctrl-C does: SIGINT to every process group of the session that this process leads. A program such as `timeout` makes a
 * group of its own, which the shell around it does not hear of. Without `/proc` only the leader's group is reached.
 */
export async function interruptSession(leader: number): Promise<void> {
  const members = (await processStats()).filter(({ session }) => session === leader);
  const groups = new Set([leader, ...members.map(({ group }) => group)]);
  await Promise.all([...groups].map((group) => signalGroup(group, "SIGINT")));
}

async function signalTree(tree: ProcessTree, signal: NodeJS.Signals): Promise<void> {
  // Looked up beforehand: what a member of the group starts in answer to TERM, to clean up, is left in peace.
  const strays = await findStrays(tree);
  if (tree.pid !== undefined) await signalGroup(tree.pid, signal);
  for (const pid of strays) sendSignal(pid, signal);
}

/** Marked processes outside the group. */
async function findStrays({ pid, marker }: ProcessTree): Promise<number[]> {
  const marked = marker === undefined ? [] : await findMarkedProcesses(marker);
  const stats = await Promise.all(marked.map(readProcessStat));
  return marked.filter((_, index) => stats[index]?.group !== pid);
}

async function isGoneWithin(tree: ProcessTree, waitMs: number): Promise<boolean> {
  const givesUpAt = performance.now() + waitMs;
  for (let pollMs = FIRST_POLL_MS; await isAlive(tree); pollMs = Math.min(2 * pollMs, LAST_POLL_MS)) {
    if (performance.now() >= givesUpAt) return false;
    await pause(pollMs);
  }
  return true;
}

async function isAlive({ pid, marker }: ProcessTree): Promise<boolean> {
  if (pid !== undefined && (await isGroupAlive(pid))) return true;
  return marker !== undefined && (await findMarkedProcesses(marker)).length > 0;
}

async function isGroupAlive(leader: number): Promise<boolean> {
  if (!sendSignal(-leader, 0)) return false;
  // The signal also reaches dead members that nobody has waited for, in a container possibly for ever.
  const stats = await processStats();
  return stats.length === 0 || stats.some(({ group, state }) => group === leader && !/[ZX]/.test(state));
}

/** False when there is nobody to send it to. */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
