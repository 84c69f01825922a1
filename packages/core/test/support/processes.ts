import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

/** True for a process that has not ended; one that has ended and was not waited for counts as ended. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => undefined);
  return stat === undefined || !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
}

/** Waits until the file holds a line, and returns its number. */
export async function readPid(path: string): Promise<number> {
  for (;;) {
    const text = await readFile(path, "utf8").catch(() => "");
    if (text.endsWith("\n")) return Number(text);
    await pause(10);
  }
}
