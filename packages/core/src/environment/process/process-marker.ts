import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";

/** The environment variable that every process started by the runner, and whatever it starts, carries. */
export const PROCESS_MARKER = "ROOKERY_PROCESS";

/** A new marker; with `owner` one that is found by the owner's marker too. */
export function createMarker(owner?: string): string {
  const random = randomBytes(12).toString("hex");
  return owner === undefined ? random : `${owner}-${random}`;
}

/**
 * The living processes that carry a marker, or one that its owner made, wherever in the process tree they are.
 *
 * Reads `/proc`, so it finds processes on Linux only and only those of users whose environment may be read; elsewhere
 * the list is empty. A process that cleared its environment is not found.
 */
export async function findMarkedProcesses(marker: string): Promise<number[]> {
  const pids = await listProcesses();
  const marked = await Promise.all(pids.map((pid) => isMarked(pid, marker)));
  return pids.filter((_, index) => marked[index]);
}

async function isMarked(pid: number, marker: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  const entry = `\0${PROCESS_MARKER}=${marker}`;
  return [`${entry}\0`, `${entry}-`].some((wanted) => `\0${environment}`.includes(wanted));
}

/** Every process the kernel tells of; empty where there is no `/proc`. */
export async function listProcesses(): Promise<number[]> {
  const entries = await readdir("/proc").catch(() => []);
  return entries.filter((entry) => /^\d+$/.test(entry)).map(Number);
}
