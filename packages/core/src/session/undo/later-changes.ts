import { isAnyState, type PresentState } from "./file-state.ts";
import { changesOf, type FileChange, type TreeEntry } from "./task-changes.ts";
import { type RecordedTask, statesIn } from "./task-list.ts";
import type { UndoStore } from "./undo-store.ts";

/** Who changed a file behind a task: looked up only where a file is not as the task left it. */
export class LaterChanges {
  readonly #store: UndoStore;
  readonly #task: RecordedTask;
  readonly #later: readonly RecordedTask[];
  readonly #changes = new Map<number, Promise<ReadonlyMap<string, FileChange>>>();

  /** @param tasks - All of the session, oldest first. */
  constructor(store: UndoStore, task: RecordedTask, tasks: readonly RecordedTask[]) {
    this.#store = store;
    this.#task = task;
    this.#later = tasks.filter((one) => one.task > task.task);
  }

  /** Why what is at a path is not what the task left: the later task that left it, where one did. */
  async reason(path: string, present: PresentState): Promise<string> {
    for (const task of this.#later.toReversed()) {
      const change = (await this.#changesOf(task)).get(path);
      if (change && (await isAnyState(path, present, change.left))) return `task ${task.task} has changed it since`;
    }
    const hasUnknown = [this.#task, ...this.#later].some(isUnknown);
    return `it was changed since by somebody else${hasUnknown ? ", or by commands whose changes are not on record" : ""}`;
  }

  #changesOf(task: RecordedTask): Promise<ReadonlyMap<string, FileChange>> {
    const known = this.#changes.get(task.task) ?? this.#read(task);
    this.#changes.set(task.task, known);
    return known;
  }

  /** Where git cannot say what commands did, what tools did. */
  async #read({ entries }: RecordedTask): Promise<ReadonlyMap<string, FileChange>> {
    const read = (after: TreeEntry | undefined): Promise<FileChange[]> => changesOf(this.#store, entries, after);
    const changes = await read(statesIn(entries).after).catch(() => read(undefined));
    return new Map(changes.map((change) => [change.path, change]));
  }
}

/** Its commands did what nobody recorded. */
function isUnknown({ entries, uncovered }: RecordedTask): boolean {
  const { before, after } = statesIn(entries);
  return uncovered !== undefined || (before !== undefined && after === undefined);
}
