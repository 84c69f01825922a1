import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { entryAt } from "../../environment/files/resolve-path.ts";
import type { FilePlan } from "./plan-file.ts";

/**
 * The plans, those refused that something is in the way of which stays: a directory where a file is to come back, or no
 * directory where its own was. What is in the way may go with the same undo, or would with `force`.
 *
 * @throws What the file system reports.
 */
export function refuseObstructed(plans: readonly FilePlan[]): FilePlan[] {
  const byPath = new Map(plans.map((plan) => [plan.change.path, plan]));
  const isDeleted = (path: string): boolean => byPath.get(path)?.action === "deleted";
  const isForcible = (path: string): boolean => {
    const plan = byPath.get(path);
    return isDeleted(path) || (plan?.forcible === true && plan.change.before.kind === "absent");
  };
  return plans.map((plan) => {
    const { change, action, forcible } = plan;
    if (change.before.kind === "absent" || !(action === "restored" || forcible)) return plan;
    const obstacle = obstacleTo(change.path);
    if (obstacle === undefined || goes(obstacle.path, isDeleted)) return plan;
    const refused: FilePlan = { change, action: "refused", reason: obstacle.what, isForced: false };
    if (!goes(obstacle.path, isForcible)) return refused;
    return forcible ? plan : { ...refused, forcible: true };
  });
}

function obstacleTo(path: string): { readonly path: string; readonly what: string } | undefined {
  const isDirectory = entryAt(path)?.isDirectory();
  let obstacle = isDirectory ? { path, what: "it is a directory now" } : undefined;
  for (let above = dirname(path); above !== dirname(above); above = dirname(above)) {
    const entry = entryAt(above);
    const what = entry?.isSymbolicLink() ? "its directory leads elsewhere now" : "its directory is a file now";
    if (entry && !entry.isDirectory()) obstacle = { path: above, what };
  }
  return obstacle;
}

/** Whether it is gone when the files are gone of which that is said; a directory with nothing in it stays. */
function goes(path: string, isGoing: (path: string) => boolean): boolean {
  if (!entryAt(path)?.isDirectory()) return isGoing(path);
  const names = namesIn(path);
  return names.length > 0 && names.every((name) => goes(join(path, name), isGoing));
}

/** None where it cannot be read. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
