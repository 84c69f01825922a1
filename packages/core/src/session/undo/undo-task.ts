import { problemText } from "../../environment/files/file-problem.ts";
import { RookeryError } from "../../errors/rookery-error.ts";
import { type AppliedPlan, applyPlans } from "./apply-plan.ts";
import { type RecordedPlace, recordState, TaskRecorder } from "./change-recorder.ts";
import type { JournalEntry } from "./journal.ts";
import { type FilePlan, planFile, type UndoAction } from "./plan-file.ts";
import { changesOf, type FileChange, type TreeEntry } from "./task-changes.ts";
import { lastTask, type RecordedTask, tasksIn } from "./task-list.ts";
import { UndoDiffs } from "./undo-diff.ts";
import { gitReason, type UndoStore } from "./undo-store.ts";

export interface UndoOptions {
  /** Default: the last task that changed something and has not been undone. */
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
  /** From what was there to what is there now; absent where nothing changes, and behind the first 200,000 characters. */
  readonly diff?: string;
}

export interface UndoResult {
  /** The task that was undone; absent where there is none. */
  readonly task?: number;
  /** How its input began. */
  readonly prompt?: string;
  /** The number under which the undo can be undone; absent where nothing was changed. */
  readonly undoTask?: number;
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
 * @throws {RookeryError} `usage` for a task that is not on record; otherwise what the file system reports.
 */
export async function undoTask(store: UndoStore, place: RecordedPlace, options: UndoOptions = {}): Promise<DoneUndo> {
  try {
    return await undo(store, place, options);
  } finally {
    store.endReading();
  }
}

async function undo(store: UndoStore, place: RecordedPlace, options: UndoOptions): Promise<DoneUndo> {
  const journal = store.entries();
  const tasks = tasksIn(journal);
  const target = options.task === undefined ? lastTask(tasks) : named(tasks, options.task);
  if (target === undefined) {
    return { result: { files: [], notes: ["there is no task to undo", ...laterNotes(tasks, 0)] }, changed: [] };
  }
  const { changes, notes, before } = await changesAndNotes(store, place, journal, target);
  const laterFiles = laterChanges(journal, target.task);
  const plans: FilePlan[] = [];
  const diffs = new UndoDiffs(place.workspaceDir);
  const shown = new Map<string, string>();
  for (const change of changes) {
    const changedBy = laterFiles.get(change.path);
    try {
      const { content, ...plan } = await planFile(store, change, { force: options.force === true, changedBy });
      const diff = await diffs.of(plan, content);
      if (diff !== undefined) shown.set(change.path, diff);
      plans.push(plan);
    } catch (error) {
      plans.push({ change, action: "refused", reason: problemText(error), isForced: false });
    }
  }
  const recorder = new TaskRecorder(store, place, { undoes: target.task });
  const madeSince = before && { root: before.root, atMs: Date.parse(before.at) };
  const applied: readonly AppliedPlan[] = options.dryRun
    ? [...plans].sort((a, b) => (a.change.path < b.change.path ? -1 : 1))
    : await applyPlans(plans, store, recorder, madeSince);
  const changed = options.dryRun ? [] : applied.flatMap(changedFile);
  const isKnown = applied.length > 0 || before !== undefined;
  let by: number | undefined;
  try {
    if (changed.length > 0) by = recorder.task;
    if (!options.dryRun && isKnown && !applied.some(({ action }) => action === "refused"))
      store.add({ type: "undone", task: target.task, ...(by !== undefined && { by }) });
  } catch (error) {
    notes.push(`that task ${target.task} is undone could not be put on record: ${problemText(error)}`);
  }
  const files = applied.map(({ change: { path }, action, reason }) => {
    const diff = action === "restored" || action === "deleted" ? shown.get(path) : undefined;
    return { path, action, ...(reason !== undefined && { reason }), ...(diff !== undefined && { diff }) };
  });
  const { task, prompt } = target;
  const about = {
    task,
    ...(prompt !== undefined && { prompt }),
    ...(by !== undefined && { undoTask: by }),
  };
  return { result: { ...about, files, notes: [...notes, ...laterNotes(tasks, task)] }, changed };
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

async function changesAndNotes(
  store: UndoStore,
  place: RecordedPlace,
  journal: readonly JournalEntry[],
  { task, entries, uncovered }: RecordedTask,
): Promise<{ changes: FileChange[]; notes: string[]; before?: TreeEntry }> {
  const notes: string[] = [];
  if (uncovered !== undefined)
    notes.push(`commands of task ${task} ran, and what they did is not undone: ${uncovered}`);
  const before = entries.find((entry) => entry.type === "tree");
  if (before === undefined) return { changes: await changesOf(store, entries, undefined), notes };
  notes.push(`of what commands did, ${COVERED} below ${before.root} are covered, and nothing else`);
  if (before.leftOut) notes.push(`left out there: ${listed(before.leftOut)}`);
  try {
    const after = await stateAfter(store, place, journal, before, notes);
    return { changes: await changesOf(store, entries, after), notes, before };
  } catch (error) {
    notes.push(`what commands of task ${task} did is not undone: ${gitReason(error)}`);
    return { changes: await changesOf(store, entries, undefined), notes };
  }
}

const COVERED = "files that git tracks or does not ignore";

/** The state that stands for the end of a task; where that is not on record, the next one that is, or that of now. */
async function stateAfter(
  store: UndoStore,
  place: RecordedPlace,
  journal: readonly JournalEntry[],
  { task, root }: TreeEntry,
  notes: string[],
): Promise<TreeEntry> {
  const trees = journal.filter((entry): entry is TreeEntry => entry.type === "tree" && entry.root === root);
  const own = trees.find((entry) => entry.task === task && entry.when === "after");
  if (own) return own;
  const next = trees.find((entry) => entry.task > task);
  const stand = next === undefined ? "what is there now" : `what was there before the commands of task ${next.task}`;
  notes.push(`the state after task ${task} is not on record; ${stand} stands for it`);
  return next ?? (await recordState(store, place, task));
}

/** Of each file the first task after this one that changed it by a tool. */
function laterChanges(journal: readonly JournalEntry[], task: number): Map<string, number> {
  const later = new Map<string, number>();
  for (const entry of journal) {
    if (entry.type === "file" && entry.task > task && !later.has(entry.path)) later.set(entry.path, entry.task);
  }
  return later;
}

function laterNotes(tasks: readonly RecordedTask[], after: number): string[] {
  return tasks
    .filter(({ task, uncovered, hasChanges }) => task > after && uncovered !== undefined && !hasChanges)
    .map(({ task, uncovered }) => `task ${task} ran commands, and what they did cannot be undone: ${uncovered}`);
}

function changedFile({ change: { path }, action, sha256 }: AppliedPlan): DoneUndo["changed"] {
  if (action !== "restored" && action !== "deleted") return [];
  return [{ path, action, ...(sha256 !== undefined && { sha256 }) }];
}

function listed(paths: readonly string[]): string {
  const more = paths.length > MAX_NAMED ? `, and ${paths.length - MAX_NAMED} more` : "";
  return `${paths.slice(0, MAX_NAMED).join(", ")}${more}`;
}
