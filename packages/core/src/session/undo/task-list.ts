import type { JournalEntry } from "./journal.ts";
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
      hasChanges: hasChanges(entries),
      ...(uncovered && { uncovered: uncovered.reason }),
      entries,
    };
  });
}

/** The task that is undone where none is named: the last that changed something, is no undo and has not been undone. */
export function lastTask(tasks: readonly RecordedTask[]): RecordedTask | undefined {
  return tasks.findLast(({ hasChanges, isUndone, undoes }) => hasChanges && !isUndone && undoes === undefined);
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
  const trees = entries.filter((entry): entry is TreeEntry => entry.type === "tree");
  const [before, after] = trees;
  return before !== undefined && (before.tree !== after?.tree || before.modes !== after?.modes);
}
