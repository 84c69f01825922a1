import { type FileState, isState, type PresentState, presentState } from "./file-state.ts";
import type { FileChange } from "./task-changes.ts";
import type { UndoStore } from "./undo-store.ts";

/** What undo does with a file, or did. */
export type UndoAction = "restored" | "deleted" | "unchanged" | "refused" | "not-kept";

/** What is to be done with one file. */
export interface FilePlan {
  readonly change: FileChange;
  readonly action: UndoAction;
  /** Why it stays as it is. */
  readonly reason?: string;
  /** What is there is not what the task left: it must be kept, or it stays. */
  readonly isForced: boolean;
}

/**
 * Decides about a file; changes nothing.
 *
 * @param changedBy - The later task that changed it, for the reason; absent: none is known.
 * @returns Also the bytes that it gets, where it is restored to a file.
 * @throws What the file system reports.
 */
export async function planFile(
  store: UndoStore,
  change: FileChange,
  options: { readonly force: boolean; readonly changedBy: number | undefined },
): Promise<FilePlan & { readonly content?: Buffer }> {
  const { path, before, left, doubt } = change;
  const present = presentState(path);
  const stays = (action: UndoAction, reason?: string): FilePlan => ({
    change,
    action,
    isForced: false,
    ...(reason !== undefined && { reason }),
  });
  if (before.kind === "unkept") return stays("not-kept", before.reason);
  if (await isState(path, present, before, true)) return stays("unchanged");
  // Where the task took a file away, it may have put a directory in its place; that goes first, if it goes.
  const isOut = present.kind === "other";
  if (isOut && !left.some(({ kind }) => kind === "absent")) return stays("refused", present.what);
  const isOurs = isOut || (await isAny(path, present, left));
  if (!isOurs && !options.force) return stays("refused", changedReason(options.changedBy));
  if (doubt !== undefined && !options.force) return stays("refused", doubt);
  const isForced = !isOurs || doubt !== undefined;
  if (before.kind === "absent") return { change, action: "deleted", isForced };
  if (before.kind === "link") return { change, action: "restored", isForced };
  const content = await store.read(before.content);
  return content ? { change, action: "restored", isForced, content } : stays("not-kept", GONE);
}

/** Why a file that was kept cannot be put back. */
export const GONE = "what was kept of it is damaged or gone";

function changedReason(by: number | undefined): string {
  return by === undefined ? "it was changed since by somebody else" : `task ${by} has changed it since`;
}

async function isAny(path: string, present: PresentState, states: readonly FileState[]): Promise<boolean> {
  for (const state of states) if (await isState(path, present, state, false)) return true;
  return false;
}
