import { dirname } from "node:path";
import type { FileState } from "./file-state.ts";
import type { TreeEntry } from "./task-changes.ts";
import type { UndoStore } from "./undo-store.ts";

/**
 * What was at a path, relative to the root, that a state of a work tree does not have: nothing, or what nobody kept.
 *
 * Where what is ignored or left out is not to be had any more, everything may have been there.
 */
export async function statesOutside(
  store: Pick<UndoStore, "read">,
  { unknown }: Pick<TreeEntry, "unknown">,
): Promise<(path: string) => FileState> {
  if (unknown === undefined) return () => ({ kind: "absent" });
  const text = await store.read(`sha256:${unknown}`);
  const names = text && new Set(JSON.parse(text.toString()) as string[]);
  const isUnknown = (path: string): boolean => {
    if (names === undefined || names.has(path)) return true;
    const parent = dirname(path);
    return parent !== "." && (names.has(`${parent}/`) || isUnknown(parent));
  };
  return (path) => (isUnknown(path) ? { kind: "unkept", reason: MAYBE_OLDER } : { kind: "absent" });
}

const MAYBE_OLDER = "it may have been there before this task, ignored or left out, and what was there then is not kept";
