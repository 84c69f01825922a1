import { problemText } from "../../environment/files/file-problem.ts";
import { RookeryError } from "../../errors/rookery-error.ts";
import { existingWorkspace } from "../existing-workspace.ts";
import { type AppliedPlan, applyPlans } from "./apply-plan.ts";
import { TaskRecorder } from "./change-recorder.ts";
import { coveredChanges, laterNotes } from "./covered-changes.ts";
import { LaterChanges } from "./later-changes.ts";
import { type NothingToUndo, nothingToUndo, type UndonePlace, unrecordedTask } from "./nothing-to-undo.ts";
import { refuseObstructed } from "./obstacles.ts";
import { type FilePlan, planFile, type UndoAction } from "./plan-file.ts";
import type { FileChange } from "./task-changes.ts";
import { isOnRecord, lastTask, type RecordedTask, tasksIn, undosOf } from "./task-list.ts";
import { UndoDiffs } from "./undo-diff.ts";
import type { UndoStore } from "./undo-store.ts";

export interface UndoOptions {
  /** Default: the last task that changed something, or ran commands that are not covered, and has not been undone. */
  readonly task?: number;
  /** Also where somebody changed a file since; what is overwritten is kept as the undo's own task. */
  readonly force?: boolean;
  /** Says what would be done, and does nothing. */
  readonly dryRun?: boolean;
}

/** A file that the task changed, and what undo did with it. */
export interface UndoneFile {
  /** Absolute. */
  readonly path: string;
  readonly action: UndoAction;
  /** Why it stays as it is. */
  readonly reason?: string;
  /** It is refused, and `force` would do it; absent otherwise. */
  readonly forcible?: true;
  /** From what was there to what is there now; absent where nothing changes, and behind the first 200,000 characters. */
  readonly diff?: string;
}

export interface UndoResult {
  /** The task that was undone; absent where there is none. */
  readonly task?: number;
  /** Why there is none: nothing was changed, everything is undone, or what was changed is not on record. */
  readonly nothing?: NothingToUndo;
  /** How its input began. */
  readonly prompt?: string;
  /** The number under which the undo can be undone; absent where nothing was changed. */
  readonly undoTask?: number;
  /** How all of a task that is undone, or a part of it, is done again: by undoing these, one after the other. */
  readonly again?: { readonly task: number; readonly undos: readonly number[] };
  /** Where nothing of the task that is meant is on record: the last one before it that can be undone. */
  readonly earlierTask?: number;
  readonly files: readonly UndoneFile[];
  /** What is not covered, for a person. */
  readonly notes: readonly string[];
}

/** The same with what the session has to know. */
export interface DoneUndo {
  readonly result: UndoResult;
  readonly changed: readonly {
    readonly path: string;
    readonly action: "restored" | "deleted";
    readonly sha256?: string;
  }[];
}

/**
 * Undoes what one task changed, file by file, as far as what is there is what the task left.
 *
 * @throws {RookeryError} `usage` for a task that is not on record, `workspace-missing`; otherwise what the file system reports.
 */
export async function undoTask(store: UndoStore, place: UndonePlace, options: UndoOptions = {}): Promise<DoneUndo> {
  try {
    return await undo(store, place, options);
  } finally {
    store.endReading();
  }
}

async function undo(store: UndoStore, place: UndonePlace, options: UndoOptions): Promise<DoneUndo> {
  const journal = store.entries();
  const tasks = tasksIn(journal);
  const target = options.task === undefined ? lastTask(tasks, store.limits) : named(tasks, options.task);
  if (target === undefined) return { result: { files: [], ...nothingToUndo(tasks, place) }, changed: [] };
  if (target.uncovered !== undefined && !isOnRecord(target, store.limits))
    return { result: { files: [], ...unrecordedTask(tasks, target, place, store.limits) }, changed: [] };
  await existingWorkspace(place.workspaceDir, "put it back to undo what was done in it");
  const { changes, notes, before } = await coveredChanges(store, place, journal, target);
  const later = new LaterChanges(store, target, tasks);
  const whyChanged = later.reason.bind(later);
  const inOrder = [...changes].sort((a, b) => (a.path < b.path ? -1 : 1));
  const { plans, diffs } = await planFiles(store, place, inOrder, { force: options.force === true, whyChanged });
  const recorder = new TaskRecorder(store, place, { undoes: target.task });
  const madeSince = before && { root: before.root, atMs: Date.parse(before.at) };
  const applied: readonly AppliedPlan[] = options.dryRun ? plans : await applyPlans(plans, store, recorder, madeSince);
  const changed = options.dryRun ? [] : applied.flatMap(changedFile);
  const isKnown = applied.length > 0 || before !== undefined;
  let by: number | undefined;
  try {
    if (changed.length > 0) by = recorder.task;
    if (!options.dryRun && isKnown) recordUndone(store, target.task, applied);
  } catch (error) {
    notes.push(`that task ${target.task} is undone could not be put on record: ${problemText(error)}`);
  }
  const { task, prompt } = target;
  const undos = options.dryRun ? [] : undosOf(tasksIn(store.entries()), task);
  const about = {
    task,
    ...(prompt !== undefined && { prompt }),
    ...(by !== undefined && { undoTask: by }),
    ...(undos.length > 0 && { again: { task, undos } }),
  };
  const files = undoneFiles(applied, diffs);
  return { result: { ...about, files, notes: [...notes, ...laterNotes(tasks, task)] }, changed };
}

/** A task with a file that was refused is not undone yet. */
function recordUndone(store: UndoStore, task: number, applied: readonly FilePlan[]): void {
  if (count(applied, "refused") > 0) return;
  const notKept = count(applied, "not-kept");
  store.add({ type: "undone", task, ...(notKept > 0 && { notKept }) });
}

function undoneFiles(applied: readonly FilePlan[], diffs: ReadonlyMap<string, string>): UndoneFile[] {
  return applied.map(({ change: { path }, action, reason, forcible }) => {
    const diff = action === "restored" || action === "deleted" ? diffs.get(path) : undefined;
    const why = { ...(reason !== undefined && { reason }), ...(forcible && { forcible }) };
    return { path, action, ...why, ...(diff !== undefined && { diff }) };
  });
}

function count(plans: readonly FilePlan[], action: UndoAction): number {
  return plans.filter((plan) => plan.action === action).length;
}

/** What is to be done with each file, and how that looks; one that cannot be looked at stops no other. */
async function planFiles(
  store: UndoStore,
  { workspaceDir }: UndonePlace,
  changes: readonly FileChange[],
  options: Parameters<typeof planFile>[2],
): Promise<{ readonly plans: readonly FilePlan[]; readonly diffs: ReadonlyMap<string, string> }> {
  const plans: FilePlan[] = [];
  const diffs = new Map<string, string>();
  const undoDiffs = new UndoDiffs(workspaceDir);
  for (const change of changes) {
    try {
      const { content, ...plan } = await planFile(store, change, options);
      const diff = await undoDiffs.of(plan, content);
      if (diff !== undefined) diffs.set(change.path, diff);
      plans.push(plan);
    } catch (error) {
      plans.push({ change, action: "refused", reason: problemText(error), isForced: false });
    }
  }
  return { plans: refuseObstructed(plans), diffs };
}

function named(tasks: readonly RecordedTask[], task: number): RecordedTask {
  const found = tasks.find((one) => one.task === task);
  if (found) return found;
  const known = tasks.slice(-MAX_NAMED).map(({ task, prompt, undoes }) => {
    return `${task} (${undoes === undefined ? (prompt ?? "?") : `undo of ${undoes}`})`;
  });
  throw new RookeryError("usage", `no task ${task} of this session is on record`, {
    hint: known.length > 0 ? `the last ones are ${known.join(", ")}` : "no task of it has changed anything",
  });
}

const MAX_NAMED = 5;

function changedFile({ change: { path }, action, sha256 }: AppliedPlan): DoneUndo["changed"] {
  if (action !== "restored" && action !== "deleted") return [];
  return [{ path, action, ...(sha256 !== undefined && { sha256 }) }];
}
