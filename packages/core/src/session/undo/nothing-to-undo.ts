import type { RecordedPlace } from "./change-recorder.ts";
import { coverageNotes, laterNotes } from "./covered-changes.ts";
import { type RecordedTask, statesIn } from "./task-list.ts";

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
): { readonly nothing: NothingToUndo; readonly notes: readonly string[] } {
  const lost = laterNotes(tasks, 0);
  const off = isOff ? [OFF] : [];
  const isLost = isOff || lost.length > 0;
  if (tasks.some((task) => task.isUndone && task.undoes === undefined)) {
    const undo = tasks.findLast((task) => task.undoes !== undefined && !task.isUndone);
    const again = undo ? `; undo task ${undo.task} to do task ${undo.undoes} again` : "";
    const notes = [`${NONE}: what is on record is undone${again}`, ...lost, ...off];
    return { nothing: isLost ? "not-kept" : "undone", notes };
  }
  if (isLost) return { nothing: "not-kept", notes: [`${NONE}: nothing was kept`, ...lost, ...off] };
  if (tasks.length === 0 && mayHaveChanged) return { nothing: "not-kept", notes: [`${NONE}: ${NOT_KEPT}`] };
  if (tasks.length === 0) return { nothing: "unchanged", notes: [`${NONE}: no task has changed anything`] };
  const { before, after } = statesIn(tasks.at(-1)?.entries ?? []);
  const covered = before ? coverageNotes(before, after) : [];
  return { nothing: "unchanged", notes: [`${NONE}: no task has changed a file that is covered`, ...covered] };
}

const NONE = "there is no task to undo";
const OFF = "undo is off, so nothing is kept of what tasks change; with undo.enabled what later ones change is";
const NOT_KEPT =
  "nothing is kept of what the tasks of this session did; undo was off then, or the session was imported, which brings " +
  "its record alone. Its calls say what to put back by hand";
