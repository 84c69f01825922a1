import { readFileSync } from "node:fs";

/**
 * When a process started, as an opaque text that no later process of the same pid shares.
 *
 * @returns Absent for a process that is gone or is a zombie, and on systems without `/proc`.
 */
export function processStart(pid: number): string | undefined {
  const fields = statFields(pid);
  return fields?.[STATE] === "Z" ? undefined : fields?.[START_TIME];
}

// Places behind the program's name, which is the second field of `/proc/<pid>/stat` and may itself hold blanks.
const STATE = 0;
const START_TIME = 19;

function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}
