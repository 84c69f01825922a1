import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { listProcesses, sharedLook } from "./process-list.ts";

/** The environment variable that every process started by the runner, and whatever it starts, carries. */
export const PROCESS_MARKER = "ROOKERY_PROCESS";

/** A new marker; with `owner` one that is found by the owner's marker too. */
export function createMarker(owner?: string): string {
  const random = randomUUID().replaceAll("-", "");
  return owner === undefined ? random : `${owner}-${random}`;
}

/** An environment with a marker in it. */
export function withMarker(env: Readonly<Record<string, string>>, marker: string): Record<string, string> {
  return { ...env, [PROCESS_MARKER]: marker };
}

/**
 * The living processes that carry a marker, or one that its owner made, wherever in the process tree they are.
 *
 * Reads `/proc`, so it finds processes on Linux only and only those of users whose environment may be read; elsewhere
 * the list is empty. A process that cleared its environment is not found.
 */
export async function findMarkedProcesses(marker: string): Promise<number[]> {
  const found = await markedProcesses();
  return found.filter(([, carried]) => carried === marker || carried.startsWith(`${marker}-`)).map(([pid]) => pid);
}

/** Those that carry just one of these markers, for an exit that cannot wait. */
export function findMarkedProcessesNow(markers: readonly string[]): number[] {
  try {
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => Number.isInteger(pid) && markers.includes(readMarkerNow(pid) ?? ""));
  } catch {
    return [];
  }
}

function readMarkerNow(pid: number): string | undefined {
  try {
    return CARRIED.exec(readFileSync(`/proc/${pid}/environ`, "latin1"))?.[1];
  } catch {
    return undefined;
  }
}

const markedProcesses = sharedLook(async (): Promise<(readonly [pid: number, marker: string])[]> => {
  const pids = await listProcesses();
  const markers = await Promise.all(pids.map(readMarker));
  return pids.flatMap((pid, index) => {
    const marker = markers[index];
    return marker === undefined ? [] : [[pid, marker] as const];
  });
});

async function readMarker(pid: number): Promise<string | undefined> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return CARRIED.exec(environment)?.[1];
}

const CARRIED = new RegExp(`(?:^|\\0)${PROCESS_MARKER}=([^\\0]*)`);
