import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { rename, rmdir, symlink, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomically } from "../../environment/files/atomic-write.ts";
import { sha256 } from "../../environment/files/content-hash.ts";
import { problemText } from "../../environment/files/file-problem.ts";
import { inPinnedDirectory } from "../../environment/files/pinned-directory.ts";
import { makeDirectories } from "../../trace/make-directories.ts";
import type { TaskRecorder } from "./change-recorder.ts";
import { CLOCK_LAG_MS, type FileState, presentState } from "./file-state.ts";
import { type FilePlan, GONE } from "./plan-file.ts";
import type { UndoStore } from "./undo-store.ts";

/** How a file came out; `sha256` is of what was put back. */
export type AppliedPlan = FilePlan & { readonly sha256?: string };

/**
 * Puts files back, and takes away what was not there before; what is overwritten is kept first, as a task of its own.
 *
 * What lies deepest goes first, so that a directory that took the place of a file is out of the way when the file comes.
 *
 * @param plans - In the order of their paths.
 * @param madeSince - Directories younger than this, in milliseconds, go when they are empty; absent: only those on record.
 */
export async function applyPlans(
  plans: readonly FilePlan[],
  store: UndoStore,
  recorder: TaskRecorder,
  madeSince: { readonly root: string; readonly atMs: number } | undefined,
): Promise<AppliedPlan[]> {
  const made = new Set(plans.flatMap(({ change }) => change.made));
  const applied = new Map<FilePlan, AppliedPlan>();
  for (const plan of plans.toReversed()) {
    if (plan.action !== "deleted") continue;
    applied.set(plan, await apply(plan, recorder, undefined, (path) => unlink(path)));
    await removeDirectories(plan.change.path, made, madeSince);
  }
  for (const plan of plans) {
    const { before } = plan.change;
    if (plan.action !== "restored") continue;
    // One at a time, since together they may be more than there is memory.
    const content = before.kind === "file" ? await store.read(before.content) : undefined;
    if (before.kind === "file" && content === undefined)
      applied.set(plan, { ...plan, action: "not-kept", reason: GONE });
    else applied.set(plan, await apply(plan, recorder, content, putBack(plan, content)));
  }
  return plans.map((plan) => applied.get(plan) ?? plan);
}

async function apply(
  plan: FilePlan,
  recorder: TaskRecorder,
  content: Buffer | undefined,
  work: (path: string) => Promise<unknown>,
): Promise<AppliedPlan> {
  const { path, before } = plan.change;
  const hash = content && sha256(content);
  const left: FileState = hash !== undefined ? { kind: "file", content: `sha256:${hash}`, mode: 0 } : before;
  try {
    const present = presentState(path);
    if (present.kind === "other") return { ...plan, action: "refused", reason: present.what };
    const kept = await recorder.beforeChange(path, left);
    if (plan.isForced && kept.kind === "unkept") {
      return { ...plan, action: "refused", reason: `what is there now could not be kept: ${kept.reason}` };
    }
    if (plan.action === "restored") makeDirectories(dirname(path));
    await inPinnedDirectory(path, work);
    return { ...plan, ...(hash !== undefined && { sha256: hash }) };
  } catch (error) {
    return { ...plan, action: "refused", reason: problemText(error) };
  }
}

function putBack(
  { change: { before, path: original } }: FilePlan,
  content: Buffer | undefined,
): (path: string) => Promise<void> {
  return async (path) => {
    if (before.kind === "link") return await replaceByLink(path, before.target);
    if (presentState(original).kind === "link") await unlink(path);
    if (content && before.kind === "file") await writeFileAtomically(path, content, before.mode);
  };
}

async function replaceByLink(path: string, target: string): Promise<void> {
  const draft = `${path}.rookery-${randomBytes(8).toString("hex")}`;
  await symlink(target, draft);
  try {
    await rename(draft, path);
  } catch (error) {
    await unlink(draft);
    throw error;
  }
}

/** Goes up from a file that was taken away, as long as directories are empty and were not there before the task. */
async function removeDirectories(
  path: string,
  made: ReadonlySet<string>,
  madeSince: { readonly root: string; readonly atMs: number } | undefined,
): Promise<void> {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    const stats = statSync(directory, { throwIfNoEntry: false });
    const isYoung =
      madeSince !== undefined &&
      directory.startsWith(`${madeSince.root}/`) &&
      (stats?.birthtimeMs ?? 0) >= madeSince.atMs - CLOCK_LAG_MS;
    if (!made.has(directory) && !isYoung) return;
    try {
      await rmdir(directory);
    } catch {
      // Something else is in it, or it is gone.
      return;
    }
  }
}
