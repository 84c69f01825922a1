import { type FileState, isAnyState, isState, type PresentState, presentState } from "./file-state.ts";
import type { FileChange } from "./task-changes.ts";
import { TOO_LONG, type UndoStore } from "./undo-store.ts";

/** What undo does with a file, or did. */
export type UndoAction = "restored" | "deleted" | "unchanged" | "refused" | "not-kept";

/** What is to be done with one file. */
export interface FilePlan {
  readonly change: FileChange;
  readonly action: UndoAction;
  /** Why it stays as it is. */
  readonly reason?: string;
  /** It is refused, and `force` would do it. */
  readonly forcible?: true;
  /** What is there is not what the task left: it must be kept, or it stays. */
  readonly isForced: boolean;
}

/**
 * Decides about a file; changes nothing.
 *
 * @param whyChanged - Why what is there is not what the task left.
 * @returns Also the bytes that it gets, where it is restored to a file.
 * @throws What the file system reports.
 */
export async function planFile(
  store: UndoStore,
  change: FileChange,
  options: {
    readonly force: boolean;
    readonly whyChanged: (path: string, present: PresentState) => Promise<string>;
  },
): Promise<FilePlan & { readonly content?: Buffer }> {
  const { path, before, left, maybeLeft } = change;
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
  if (isOut && ![...left, maybeLeft].some((state) => state?.kind === "absent")) return stays("refused", present.what);
  const isLong = present.kind === "file" && present.stats.size > store.limits.maxFileBytes;
  const unknown = left.find((state) => state.kind === "unkept");
  if (unknown && isLong) return stays("not-kept", TOO_LONG);

  const objection = await objectionTo(change, present, options.whyChanged);
  if (objection !== undefined && isLong)
    return stays("refused", options.force ? `what is there now could not be kept: ${TOO_LONG}` : objection);
  const content = before.kind === "file" ? await store.read(before.content) : undefined;
  if (before.kind === "file" && content === undefined) return stays("not-kept", GONE);
  if (objection !== undefined && !options.force) return { ...stays("refused", objection), forcible: true };
  const action = before.kind === "absent" ? "deleted" : "restored";
  return { change, action, isForced: objection !== undefined, ...(content && { content }) };
}

/** Why a file that was kept cannot be put back. */
export const GONE = "what was kept of it is damaged or gone";

/** Why it would be wrong, unasked; absent where what is there is known to be what the task left. */
async function objectionTo(
  { path, before, left, maybeLeft }: FileChange,
  present: PresentState,
  whyChanged: (path: string, present: PresentState) => Promise<string>,
): Promise<string | undefined> {
  const leaves = present.kind === "other" ? { kind: "absent" as const } : present;
  if (await isAnyState(path, leaves, left)) return undefined;
  if (maybeLeft !== undefined && (await isAnyState(path, leaves, [maybeLeft])))
    return present.kind === "absent" ? undefined : noEnd(before);
  const unknown = left.find((state) => state.kind === "unkept");
  return unknown ? `what the task left there is not on record: ${unknown.reason}` : await whyChanged(path, present);
}

function noEnd({ kind }: FileState): string {
  const did = kind === "absent" ? "made" : "changed";
  return `the state after this task is not on record, so somebody else may have ${did} it since`;
}
