import { type RecordedPlace, recordState } from "./change-recorder.ts";
import type { JournalEntry } from "./journal.ts";
import { changesOf, type FileChange, type TreeEntry } from "./task-changes.ts";
import type { RecordedTask } from "./task-list.ts";
import { gitReason, type UndoStore } from "./undo-store.ts";

/** What of a task can be looked at. */
export interface CoveredChanges {
  readonly changes: readonly FileChange[];
  /** What cannot, for a person. */
  readonly notes: string[];
  /** The state of the work tree before its first command; absent where none is on record. */
  readonly before?: TreeEntry;
}

/** What a task changed, as far as it is on record; where git fails, what the file tools say. @throws What the file system reports. */
export async function coveredChanges(
  store: UndoStore,
  place: RecordedPlace,
  journal: readonly JournalEntry[],
  { task, entries, uncovered }: RecordedTask,
): Promise<CoveredChanges> {
  const notes: string[] = [];
  if (uncovered !== undefined) notes.push(uncoveredNote(task, uncovered));
  const before = entries.find((entry) => entry.type === "tree");
  if (before === undefined) return { changes: await changesOf(store, entries, undefined), notes };
  try {
    const ofState: string[] = [];
    const after = await stateAfter(store, place, journal, before, ofState);
    const changes = await changesOf(store, entries, after);
    return { changes, notes: [...notes, ...coverageNotes(before, after), ...ofState], before };
  } catch (error) {
    notes.push(`what commands of task ${task} did is not undone: ${gitReason(error)}`);
    return { changes: await changesOf(store, entries, undefined), notes };
  }
}

/** What of a work tree is covered, and what is left out of its states. */
export function coverageNotes(before: TreeEntry, after: TreeEntry | undefined): string[] {
  const leftOut = [...new Set([...(before.leftOut ?? []), ...(after?.leftOut ?? [])])];
  return [
    `of what commands did, ${COVERED} below ${before.root} are covered, and nothing else`,
    ...(leftOut.length > 0 ? [`left out there: ${listed(leftOut)}`] : []),
  ];
}

const COVERED = "files that git tracks or does not ignore";

function listed(paths: readonly string[]): string {
  const more = paths.length > MAX_NAMED ? `, and ${paths.length - MAX_NAMED} more` : "";
  return `${paths.slice(0, MAX_NAMED).join(", ")}${more}`;
}

const MAX_NAMED = 5;

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

/** Of the tasks behind one those whose commands did what is not on record. */
export function laterNotes(tasks: readonly RecordedTask[], after: number): string[] {
  return tasks
    .filter(({ task, uncovered, hasChanges }) => task > after && uncovered !== undefined && !hasChanges)
    .map(unrecordedNote);
}

/** That what a task did is not on record at all. */
export function unrecordedNote({ task, uncovered }: Pick<RecordedTask, "task" | "uncovered">): string {
  return `task ${task} ran commands, and what they did cannot be undone: ${uncovered}`;
}

/** That what the commands of a task did is not on record. */
export function uncoveredNote(task: number, uncovered: string): string {
  return `commands of task ${task} ran, and what they did is not undone: ${uncovered}`;
}
