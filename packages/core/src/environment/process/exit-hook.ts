import { endProcessTreePlan } from "./end-process-tree.ts";
import { findMarkedProcessesNow } from "./process-marker.ts";

/**
 * Leaders of process groups that must not outlive this process, each with the marker by which what left its group is
 * found; one hook serves all sessions of the process.
 */
const groups = new Map<number, string>();

/**
 * Kills a process group and the marked processes that left it if this process exits before `release`. It is for an exit
 * that waits for nobody, such as a second Ctrl-C; a process that is itself killed cannot do it.
 */
export function killAtExit(leader: number, marker: string): { release(): void } {
  if (groups.size === 0) process.on("exit", killGroups);
  groups.set(leader, marker);
  return {
    release() {
      groups.delete(leader);
      if (groups.size === 0) process.off("exit", killGroups);
    },
  };
}

function killGroups(): void {
  for (const leader of groups.keys()) {
    const plan = endProcessTreePlan(process.platform, leader);
    if (plan.kind === "signal") kill(plan.target);
  }
  for (const pid of findMarkedProcessesNow([...groups.values()])) kill(pid);
}

function kill(target: number): void {
  try {
    process.kill(target, "SIGKILL");
  } catch {
    // It has just ended by itself.
  }
}
