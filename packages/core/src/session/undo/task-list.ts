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
  /** The undos that put all of it back, whether it was done again or not. */
  readonly undoneBy: readonly number[];
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
      undoneBy: entries.flatMap((entry) => (entry.type === "undone" ? (entry.by ?? []) : [])),
      hasChanges: hasChanges(entries),
      ...(uncovered && { uncovered: uncovered.reason }),
      entries,
    };
  });
}

/** The task that is undone where none is named: the last that changed something, is no undo and has not been undone. */
export function lastTask(
  tasks: readonly RecordedTask[],
  { maxFileBytes }: Pick<UndoLimits, "maxFileBytes">,
): RecordedTask | undefined {
  const changed = ({ hasChanges, entries }: RecordedTask): boolean =>
    hasChanges || changedLeftOut(entries, maxFileBytes);
  return tasks.findLast((task) => !task.isUndone && task.undoes === undefined && changed(task));
}

/** The undos of a task that put only a part of it back and have not been undone themselves, the last first. */
export function partialUndos(tasks: readonly RecordedTask[], task: number): number[] {
  const whole = new Set(tasks.flatMap(({ undoneBy }) => undoneBy));
  return tasks
    .filter(({ undoes, isUndone, hasChanges }) => undoes === task && !isUndone && hasChanges)
    .flatMap((undo) => (whole.has(undo.task) ? [] : undo.task))
    .toReversed();
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
