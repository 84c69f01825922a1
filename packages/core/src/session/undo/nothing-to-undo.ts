import type { RecordedPlace } from "./change-recorder.ts";
import { coverageNotes, uncoveredNote, unrecordedNote } from "./covered-changes.ts";
import type { UndoLimits } from "./settings.ts";
import { isOnRecord, lastTask, type RecordedTask, statesIn, undosOf } from "./task-list.ts";
import type { UndoResult } from "./undo-task.ts";

/** Why there is no task to undo; `not-kept`: files may be as a task left them, and nobody can tell what was there. */
export type NothingToUndo = "unchanged" | "undone" | "not-kept";

/** Where tasks are undone, and what is known of those that are not on record. */
export interface UndonePlace extends RecordedPlace {
  /** Undo keeps nothing now. */
  readonly isOff: boolean;
  /** Calls that may change something are in the session's record. */
  readonly mayHaveChanged: boolean;
}

/** Says why there is no task to undo, and what to do instead. */
export function nothingToUndo(
  tasks: readonly RecordedTask[],
  { isOff, mayHaveChanged }: Pick<UndonePlace, "isOff" | "mayHaveChanged">,
): Pick<UndoResult, "nothing" | "notes" | "again"> {
  const off = isOff ? [OFF] : [];
  const undone = tasks.filter((task) => task.isUndone && task.undoes === undefined);
  if (undone.length > 0) {
    const left = [...undone.flatMap(leftNotes), ...off];
    const nothing = left.length > 0 ? "not-kept" : "undone";
    return { nothing, ...again(tasks), notes: [`${NONE}: what is on record is undone`, ...left] };
  }
  if (isOff) return { nothing: "not-kept", notes: [`${NONE}: nothing was kept`, OFF] };
  if (tasks.length === 0 && mayHaveChanged) return { nothing: "not-kept", notes: [`${NONE}: ${NOT_KEPT}`] };
  if (tasks.length === 0) return { nothing: "unchanged", notes: [`${NONE}: no task has changed anything`] };
  const { before, after } = statesIn(tasks.at(-1)?.entries ?? []);
  const covered = before ? coverageNotes(before, after) : [];
  return { nothing: "unchanged", notes: [`${NONE}: no task has changed a file that is covered`, ...covered] };
}

/** Says that of the task that is meant nothing is on record, and which one before it can be undone. */
export function unrecordedTask(
  tasks: readonly RecordedTask[],
  meant: RecordedTask,
  { isOff }: Pick<UndonePlace, "isOff">,
  limits: UndoLimits,
): Pick<UndoResult, "nothing" | "notes" | "earlierTask"> {
  const before = tasks.filter((one) => one.task < meant.task && isOnRecord(one, limits));
  const earlier = lastTask(before, limits);
  const notes = [unrecordedNote(meant), ...(isOff ? [OFF] : [])];
  return { nothing: "not-kept", notes, ...(earlier && { earlierTask: earlier.task }) };
}

/** The last task that is undone. */
function again(tasks: readonly RecordedTask[]): Pick<UndoResult, "again"> {
  const task = tasks.findLast(({ undoes, isUndone }) => undoes !== undefined && !isUndone)?.undoes;
  const undos = task === undefined ? [] : undosOf(tasks, task);
  return task !== undefined && undos.length > 0 ? { again: { task, undos } } : {};
}

/** What of a task that is undone may be as it left it. */
function leftNotes({ task, notKept, uncovered }: RecordedTask): string[] {
  const files = `${notKept} file${notKept === 1 ? "" : "s"}`;
  return [
    ...(notKept > 0 ? [`${files} of task ${task} may be as it left ${notKept === 1 ? "it" : "them"}: not kept`] : []),
    ...(uncovered !== undefined ? [uncoveredNote(task, uncovered)] : []),
  ];
}

const NONE = "there is no task to undo";
const OFF = "undo is off, so nothing is kept of what tasks change; with undo.enabled what later ones change is";
const NOT_KEPT =
  "nothing is kept of what the tasks of this session did; undo was off then, or the session was imported, which brings " +
  "its record alone. Its calls say what to put back by hand";
