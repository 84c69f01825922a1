import { readdir, readFile } from "node:fs/promises";

/** Every process the kernel tells of; empty where there is no `/proc`. */
export async function listProcesses(): Promise<number[]> {
  const entries = await readdir("/proc").catch(() => []);
  return entries.filter((entry) => /^\d+$/.test(entry)).map(Number);
}

/** State, process group and session of a process. */
export interface ProcessStat {
  readonly state: string;
  readonly group: number;
  readonly session: number;
}

/** The same for every process; empty where there is no `/proc`. */
export const processStats: () => Promise<ProcessStat[]> = sharedLook(async () =>
  Promise.all((await listProcesses()).map(readProcessStat)),
);

/** One that is gone counts as dead. */
export async function readProcessStat(pid: number): Promise<ProcessStat> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  // The name, in parentheses, may hold blanks and parentheses itself.
  const [state = "", , group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: state || "X", group: Number(group), session: Number(session) };
}

/**
 * Makes one look at the system serve everybody who asks while another one is under way: with many commands ending at once
 * each would otherwise read all of `/proc` for itself. An answer is never older than the question.
 */
export function sharedLook<T>(look: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= underWay.then(() => {
      next = undefined;
      const answer = look();
      underWay = answer.catch(() => undefined);
      return answer;
    });
    return next;
  };
}
