import { join } from "node:path";
import type { FileState } from "./file-state.ts";
import { compareTrees, filesOfTree, type TreeFile, usualMode } from "./git/snapshot.ts";
import type { JournalEntry } from "./journal.ts";
import { leftOutChanges } from "./left-out-changes.ts";
import { statesOutside } from "./states-outside.ts";
import type { UndoStore } from "./undo-store.ts";

/** A file that a task changed. */
export interface FileChange {
  readonly path: string;
  readonly before: FileState;
  /** What the task put there, one after the other; `unkept` where nobody knows its bytes. */
  readonly left: readonly FileState[];
  /** What was found there when the task was over for long: what its commands left, or somebody else's. */
  readonly maybeLeft?: FileState;
  /** Directories that were made for it, outermost first. */
  readonly made: readonly string[];
}

type FileEntry = Extract<JournalEntry, { type: "file" }>;
export type TreeEntry = Extract<JournalEntry, { type: "tree" }>;

/**
 * What a task changed: by the file tools as they say, by commands as the states of the work tree say.
 *
 * @param entries - The task's own.
 * @param after - The state that stands for its end; absent: commands are left out. Where it is not that of its end, nobody
 *   can tell whether a file in it is as the task left it.
 * @throws {GitProblem}
 */
export async function changesOf(
  store: UndoStore,
  entries: readonly JournalEntry[],
  after: TreeEntry | undefined,
): Promise<FileChange[]> {
  const at = entries.findIndex((entry) => entry.type === "tree" && entry.when === "before");
  const before = entries[at] as TreeEntry | undefined;
  const files = new Map<string, FileChange>();
  for (const entry of entries)
    if (entry.type === "file") files.set(entry.path, withEntry(files.get(entry.path), entry));
  if (before === undefined || after === undefined) return [...files.values()];

  const kept = new Set(entries.slice(0, at).flatMap((entry) => (entry.type === "file" ? entry.path : [])));
  for (const change of await treeChanges(store, before, after)) {
    const byTool = files.get(change.path);
    files.set(change.path, byTool ? withTool(change, byTool, kept.has(change.path)) : change);
  }
  return [...files.values()];
}

/** @param isFirst - The tool changed it before the state of the work tree was recorded. */
function withTool(change: FileChange, byTool: FileChange, isFirst: boolean): FileChange {
  const isBetter = isFirst || change.before.kind === "unkept";
  return {
    ...change,
    before: isBetter ? byTool.before : change.before,
    left: [...byTool.left, ...change.left],
    made: byTool.made,
  };
}

function withEntry(known: FileChange | undefined, { path, before, left, made = [] }: FileEntry): FileChange {
  if (known !== undefined) return { ...known, left: [...known.left, left] };
  return { path, before: before ?? { kind: "unkept", reason: "its record is damaged" }, left: [left], made };
}

async function treeChanges(store: UndoStore, before: TreeEntry, after: TreeEntry): Promise<FileChange[]> {
  const [oldModes, newModes] = [await modesOf(store, before), await modesOf(store, after)];
  const outside = await statesOutside(store, before);
  const isEnd = before.task === after.task && after.when === "after" && after.at !== "";
  const files = new Map<string, FileChange>();
  const add = (name: string, was: FileState, is: FileState): void => {
    const path = join(before.root, name);
    const left = isEnd ? { left: [is] } : { left: [], maybeLeft: is };
    files.set(path, { path, before: was.kind === "absent" ? outside(name) : was, ...left, made: [] });
  };
  for (const { path, before: was, after: is } of await compareTrees(store.repository, before.tree, after.tree))
    add(path, await stateOf(store, was, oldModes.get(path)), await stateOf(store, is, newModes.get(path)));
  const changedModes = [...new Set([...oldModes.keys(), ...newModes.keys()])].filter(
    (path) => oldModes.get(path) !== newModes.get(path) && !files.has(join(before.root, path)),
  );
  for (const [path, same] of await filesNamed(store, before.tree, changedModes)) {
    const state = await stateOf(store, same, oldModes.get(path));
    add(path, state, state);
  }
  for (const change of leftOutChanges(before, after, store.limits.maxFileBytes, outside)) {
    const known = files.get(change.path);
    const hasGrown = known?.before.kind === "file" || known?.before.kind === "link";
    files.set(change.path, hasGrown ? { ...known, left: change.left } : change);
  }
  return [...files.values()];
}

/** Those of a tree that it has, listed once however many there are. */
async function filesNamed(store: UndoStore, tree: string, paths: readonly string[]): Promise<[string, TreeFile][]> {
  if (paths.length === 0) return [];
  const files = await filesOfTree(store.repository, tree);
  return paths.flatMap((path): [string, TreeFile][] => {
    const file = files.get(path);
    return file ? [[path, file]] : [];
  });
}

async function modesOf(store: UndoStore, { modes }: TreeEntry): Promise<Map<string, number>> {
  const text = modes === undefined ? undefined : await store.read(`sha256:${modes}`);
  return new Map(Object.entries((text && (JSON.parse(text.toString()) as Record<string, number>)) ?? {}));
}

async function stateOf(store: UndoStore, file: TreeFile | undefined, mode: number | undefined): Promise<FileState> {
  if (file === undefined) return { kind: "absent" };
  const content = `git:${file.oid}` as const;
  if (file.kind !== "link") return { kind: "file", content, mode: mode ?? usualMode(file.kind) };
  const target = await store.read(content);
  return target ? { kind: "link", target: target.toString() } : { kind: "unkept", reason: "git does not have it" };
}
