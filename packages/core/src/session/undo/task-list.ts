import type { JournalEntry } from "./journal.ts";
import { leftOutChanges } from "./left-out-changes.ts";
import type { UndoLimits } from "./settings.ts";
import type { TreeEntry } from "./task-changes.ts";

/** A task that changed something, or ran commands. */
export interface RecordedTask {
  /** From 1, in the order in which the tasks of the session first changed something. */
  readonly task: number;
  readonly at: string;
  /** How its input begins. */
  readonly prompt?: string;
  /** It undid that task. */
  readonly undoes?: number;
  readonly isUndone: boolean;
  /** So many files of it were not kept, and stayed when it was undone. */
  readonly notKept: number;
  /** False where it is known that it changed nothing that is covered. */
  readonly hasChanges: boolean;
  /** Why what its commands did is not covered; absent where it is, or none ran. */
  readonly uncovered?: string;
  readonly entries: readonly JournalEntry[];
}

/** The tasks of a journal, oldest first. */
export function tasksIn(journal: readonly JournalEntry[]): RecordedTask[] {
  const byTask = new Map<number, JournalEntry[]>();
  for (const entry of journal) {
    const known = byTask.get(entry.task);
    if (known) known.push(entry);
    else byTask.set(entry.task, [entry]);
  }
  const undone = undoneTasks(journal);
  return [...byTask].map(([task, entries]) => {
    const begin = entries.find((entry) => entry.type === "begin");
    const uncovered = entries.find((entry) => entry.type === "uncovered");
    return {
      task,
      at: begin?.at ?? "",
      ...(begin?.prompt !== undefined && { prompt: begin.prompt }),
      ...(begin?.undoes !== undefined && { undoes: begin.undoes }),
      isUndone: undone.has(task),
      notKept: entries.findLast((entry) => entry.type === "undone")?.notKept ?? 0,
      hasChanges: hasChanges(entries),
      ...(uncovered && { uncovered: uncovered.reason }),
      entries,
    };
  });
}

/**
 * The task that is meant where none is named: the last that changed something, is no undo and has not been undone. Whether
 * commands changed something that are not covered nobody can tell, so it may be one of which nothing is on record.
 */
export function lastTask(
  tasks: readonly RecordedTask[],
  limits: Pick<UndoLimits, "maxFileBytes">,
): RecordedTask | undefined {
  return tasks.findLast(
    (task) => !task.isUndone && task.undoes === undefined && (task.uncovered !== undefined || isOnRecord(task, limits)),
  );
}

/** Whether something that a task changed is on record. */
export function isOnRecord(
  { hasChanges, entries }: RecordedTask,
  { maxFileBytes }: Pick<UndoLimits, "maxFileBytes">,
): boolean {
  return hasChanges || changedLeftOut(entries, maxFileBytes);
}

/**
 * The undos of a task that are to be undone, in this order, to do all of it again; empty where it is not undone.
 *
 * One whose files later ones have put back as well does not count.
 */
export function undosOf(tasks: readonly RecordedTask[], task: number): number[] {
  const seen = new Set<string>();
  const undos = tasks.filter(({ undoes, isUndone }) => undoes === task && !isUndone);
  return undos.toReversed().flatMap((undo) => {
    const paths = undo.entries.flatMap((entry) => (entry.type === "file" ? entry.path : []));
    const adds = paths.some((path) => !seen.has(path));
    for (const path of paths) seen.add(path);
    return adds ? undo.task : [];
  });
}

/** To undo an undo is to do the task again. */
function undoneTasks(journal: readonly JournalEntry[]): Set<number> {
  const undoes = new Map(journal.flatMap((entry) => (entry.type === "begin" ? [[entry.task, entry.undoes]] : [])));
  const undone = new Set<number>();
  for (const entry of journal) {
    if (entry.type !== "undone") continue;
    undone.add(entry.task);
    const again = undoes.get(entry.task);
    if (again !== undefined) undone.delete(again);
  }
  return undone;
}

function hasChanges(entries: readonly JournalEntry[]): boolean {
  if (entries.some((entry) => entry.type === "file")) return true;
  const { before, after } = statesIn(entries);
  return before !== undefined && (before.tree !== after?.tree || before.modes !== after?.modes);
}

function changedLeftOut(entries: readonly JournalEntry[], maxFileBytes: number): boolean {
  const { before, after } = statesIn(entries);
  return (
    before !== undefined &&
    after !== undefined &&
    leftOutChanges(before, after, maxFileBytes, () => ({ kind: "absent" })).length > 0
  );
}

/** Of the work tree, around the commands of a task. */
export function statesIn(entries: readonly JournalEntry[]): Partial<Record<"before" | "after", TreeEntry>> {
  const trees = entries.filter((entry): entry is TreeEntry => entry.type === "tree");
  const [before, after] = [trees.find(({ when }) => when === "before"), trees.find(({ when }) => when === "after")];
  return { ...(before && { before }), ...(after && { after }) };
}
