import { endProcessTreePlan } from "./end-process-tree.ts";

/** Leaders of process groups that must not outlive this process; one hook serves all sessions of the process. */
const groups = new Set<number>();

/**
 * Kills a process group if this process exits before `release`. It is for an exit that waits for nobody, such as a second
 * Ctrl-C; a process that is itself killed cannot do it.
 */
export function killAtExit(leader: number): { release(): void } {
  if (groups.size === 0) process.on("exit", killGroups);
  groups.add(leader);
  return {
    release() {
      groups.delete(leader);
      if (groups.size === 0) process.off("exit", killGroups);
    },
  };
}

function killGroups(): void {
  for (const leader of groups) {
    const plan = endProcessTreePlan(process.platform, leader);
    if (plan.kind !== "signal") continue;
    try {
      process.kill(plan.target, "SIGKILL");
    } catch {
      // It has just ended by itself.
    }
  }
}
