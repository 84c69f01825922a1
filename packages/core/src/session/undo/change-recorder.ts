import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { errorText } from "../../errors/error-text.ts";
import type { FileState } from "./file-state.ts";
import { GitProblem } from "./git/private-repository.ts";
import { compareTrees, type Snapshot, takeSnapshot } from "./git/snapshot.ts";
import { findWorkTree, type WorkTree } from "./git/work-tree.ts";
import { MAX_LISTED } from "./left-out-changes.ts";
import type { TreeEntry } from "./task-changes.ts";
import { gitReason, type UndoStore } from "./undo-store.ts";

/** How long a snapshot of a work tree may take; then the task is not covered. */
const SNAPSHOT_MS = 2000;

/** Where the tasks of a session work. */
export interface RecordedPlace {
  readonly workspaceDir: string;
  /** Directories of the harness, which are not of the work tree even where they lie in it. */
  readonly apart: readonly string[];
}

/** Keeps what one task is about to change. Nothing here rejects: what cannot be kept is a warning, and undo says so. */
export class TaskRecorder {
  readonly #store: UndoStore;
  readonly #place: RecordedPlace;
  readonly #about: { readonly prompt?: string; readonly undoes?: number };
  #task: number | undefined;
  readonly #files = new Map<string, FileState>();
  /** Of files with several names, the one by which they were kept. */
  readonly #names = new Map<string, string>();
  #commands: Promise<Commands | undefined> | undefined;

  constructor(
    store: UndoStore,
    place: RecordedPlace,
    about: { readonly prompt?: string; readonly undoes?: number } = {},
  ) {
    this.#store = store;
    this.#place = place;
    this.#about = about;
  }

  /** Its number; the task begins with its first change. @throws What the file system reports. */
  get task(): number {
    this.#task ??= this.#store.beginTask(this.#about);
    return this.#task;
  }

  /**
   * A file is about to change; nobody else changes it meanwhile.
   *
   * @param left - What will be there; of a file the mode does not matter.
   * @returns What was kept at the first change of this task.
   */
  async beforeChange(realPath: string, left: FileState): Promise<FileState> {
    const path = this.#nameOf(realPath);
    const known = this.#files.get(path);
    const before = known ?? (await this.#store.keep(path));
    this.#files.set(path, before);
    try {
      const made = before.kind === "absent" ? missingAbove(path) : [];
      const first = known === undefined && { before, ...(made.length > 0 && { made }) };
      this.#store.add({ type: "file", task: this.task, path, left, ...first });
      return before;
    } catch (error) {
      this.#warnOfJournal(error);
      return { kind: "unkept", reason: errorText(error) };
    }
  }

  /** A command is about to run: before the first one the git work tree is recorded. */
  async beforeCommand(): Promise<void> {
    this.#commands ??= this.#recordTree().catch((error: unknown) => this.#warnOfJournal(error));
    await this.#commands;
  }

  /** The task has ended. */
  async end(): Promise<void> {
    const commands = await this.#commands;
    if (commands === undefined) return;
    try {
      const { root } = commands.tree;
      if (findWorkTree(this.#place.workspaceDir)?.root !== root)
        throw new GitProblem("the git work tree is another one");
      const after = await snapshotOf(this.#store, this.#place, commands.tree);
      // Objects of the first state may be gone with the repository they were borrowed from: that is said now.
      await compareTrees(this.#store.repository, commands.before, after.tree);
      this.#store.add(await treeEntry(this.#store, { task: this.task, when: "after", root }, after));
    } catch (error) {
      const reason = gitReason(error);
      this.#store.warn(
        reason,
        `the state after this task is not on record, so undo takes what it finds for it: ${reason}`,
      );
    }
  }

  async #recordTree(): Promise<Commands | undefined> {
    const { task } = this;
    try {
      const tree = findWorkTree(this.#place.workspaceDir);
      if (tree === undefined) {
        this.#store.add({ type: "uncovered", task, reason: "the workspace is in no git work tree" });
        return undefined;
      }
      if (!(await this.#store.hasRoom())) throw new GitProblem("what undo keeps has reached undo.max_bytes");
      const before = await snapshotOf(this.#store, this.#place, tree);
      this.#store.add(await treeEntry(this.#store, { task, when: "before", root: tree.root }, before));
      return { tree, before: before.tree };
    } catch (error) {
      const reason = gitReason(error);
      this.#store.add({ type: "uncovered", task, reason });
      this.#store.warn(reason, `undo does not cover what commands do: ${reason}`);
      return undefined;
    }
  }

  #nameOf(realPath: string): string {
    const stats = lstatSync(realPath, { throwIfNoEntry: false });
    if (!stats || stats.nlink < 2) return realPath;
    const file = `${stats.dev}:${stats.ino}`;
    const name = this.#names.get(file) ?? realPath;
    this.#names.set(file, name);
    return name;
  }

  #warnOfJournal(error: unknown): undefined {
    this.#store.warn("journal", `what this task changes cannot be undone: ${errorText(error)}`);
  }
}

/** The state of now in place of that after a task: not put on record, and without a time. @throws {GitProblem} */
export async function recordState(store: UndoStore, place: RecordedPlace, task: number): Promise<TreeEntry> {
  const tree = findWorkTree(place.workspaceDir);
  if (tree === undefined) throw new GitProblem("the workspace is in no git work tree any more");
  const snapshot = await snapshotOf(store, place, tree);
  return { ...(await treeEntry(store, { task, when: "after", root: tree.root }, snapshot)), at: "" };
}

async function snapshotOf(store: UndoStore, { apart }: RecordedPlace, tree: WorkTree): Promise<Snapshot> {
  try {
    const signal = AbortSignal.timeout(SNAPSHOT_MS);
    return await takeSnapshot(store.repository, tree, { maxFileBytes: store.limits.maxFileBytes, apart, signal });
  } catch (error) {
    if (!(error instanceof GitProblem && error.isTimeout)) throw error;
    throw new GitProblem(TOO_SLOW);
  } finally {
    store.recount();
  }
}

async function treeEntry(
  store: UndoStore,
  about: Pick<TreeEntry, "task" | "when" | "root">,
  { tree, modes, leftOut, ignored }: Snapshot,
): Promise<TreeEntry> {
  const isUsual = Object.keys(modes).length === 0;
  const unknown = about.when === "before" ? [...ignored, ...leftOut] : [];
  return {
    type: "tree",
    ...about,
    at: new Date().toISOString(),
    tree,
    ...(!isUsual && { modes: await store.keepText(JSON.stringify(modes)) }),
    ...(unknown.length > 0 && { unknown: await store.keepText(JSON.stringify(unknown)) }),
    ...(leftOut.length > 0 && { leftOut: leftOut.slice(0, MAX_LISTED) }),
  };
}

interface Commands {
  readonly tree: WorkTree;
  /** The tree object of the state before them. */
  readonly before: string;
}

const TOO_SLOW = `recording the git work tree would have taken longer than ${SNAPSHOT_MS / 1000} s`;

/** The directories above a path that are not there, outermost first. */
function missingAbove(path: string): string[] {
  const missing: string[] = [];
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    if (lstatSync(directory, { throwIfNoEntry: false }) || directory === dirname(directory)) return missing.reverse();
    missing.push(directory);
  }
}
