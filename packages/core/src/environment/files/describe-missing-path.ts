import { opendir, stat } from "node:fs/promises";
import { basename, dirname, sep } from "node:path";
import { modelVisiblePath } from "../model-visible-path.ts";

const SHOWN_NAMES = 8;
const MAX_ENTRIES = 5000;
const MAX_NAME_LENGTH = 64;

/**
 * Says that a path is not there and what is: the deepest existing directory with the names in it that come nearest, or
 * the file on the way that was taken for a directory.
 *
 * @param path - Absolute.
 */
export async function describeMissingPath(path: string): Promise<string> {
  let wanted = path;
  let parent = dirname(path);
  for (;;) {
    const kind = await kindOf(parent);
    if (kind === "file") return `${modelVisiblePath(parent)} is a file, not a directory`;
    if (kind === "directory" || parent === dirname(parent)) break;
    wanted = parent;
    parent = dirname(parent);
  }
  const missing = `${modelVisiblePath(path)} does not exist`;
  const names = await nearestNames(parent, basename(wanted));
  if (names === undefined) return missing;
  const shown = modelVisiblePath(parent);
  return names.length === 0 ? `${missing}; ${shown} is empty` : `${missing}; nearest in ${shown}: ${names.join(", ")}`;
}

async function kindOf(path: string): Promise<"file" | "directory" | undefined> {
  try {
    return (await stat(path)).isDirectory() ? "directory" : "file";
  } catch {
    return undefined;
  }
}

async function nearestNames(directory: string, wanted: string): Promise<string[] | undefined> {
  const names: { name: string; distance: number }[] = [];
  try {
    for await (const entry of await opendir(directory)) {
      const name = entry.isDirectory() ? entry.name + sep : entry.name;
      names.push({ name: modelVisiblePath(name), distance: editDistance(entry.name, wanted) });
      if (names.length === MAX_ENTRIES) break;
    }
  } catch {
    return undefined;
  }
  names.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return names.slice(0, SHOWN_NAMES).map((entry) => entry.name);
}

/** Levenshtein's distance of the beginnings of two names, without case. */
function editDistance(left: string, right: string): number {
  const a = left.slice(0, MAX_NAME_LENGTH).toLowerCase();
  const b = right.slice(0, MAX_NAME_LENGTH).toLowerCase();
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
