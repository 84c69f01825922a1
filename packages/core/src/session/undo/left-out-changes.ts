import { lstatSync } from "node:fs";
import { join } from "node:path";
import { CLOCK_LAG_MS, type FileState } from "./file-state.ts";
import { isUnicode } from "./git/list-files.ts";
import type { FileChange, TreeEntry } from "./task-changes.ts";
import { TOO_LONG } from "./undo-store.ts";

/**
 * What the states of a work tree leave out and commands changed all the same, as far as that can be told: it came, it went, or its
 * inode was last changed between the two.
 *
 * @param after - Without a time: the state of now.
 * @param outside - What was at a path that the earlier state does not have.
 */
export function leftOutChanges(
  before: TreeEntry,
  after: TreeEntry,
  maxFileBytes: number,
  outside: (name: string) => FileState,
): FileChange[] {
  const [old, now] = [new Set(before.leftOut), new Set(after.leftOut)];
  const isWhole = Math.max(old.size, now.size) < MAX_LISTED;
  const since = Date.parse(before.at) - CLOCK_LAG_MS;
  const until = after.at === "" ? Number.POSITIVE_INFINITY : Date.parse(after.at);
  return [...new Set([...old, ...now])].flatMap((name): FileChange[] => {
    const path = join(before.root, name);
    const stats = isUnicode(name) ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
    const [wasThere, isThere] = [old.has(name), now.has(name)];
    const reason = reasonOf(name, stats !== undefined && stats.size > maxFileBytes);
    const unkept: FileChange = { path, before: { kind: "unkept", reason }, left: [], made: [] };
    if (!isUnicode(name)) return isWhole && wasThere !== isThere ? [unkept] : [];
    if (stats === undefined) return isWhole && wasThere && !isThere ? [unkept] : [];
    if (stats.isDirectory()) return !wasThere && stats.birthtimeMs >= since ? [unkept] : [];
    if (stats.ctimeMs < since) return [];
    if (wasThere) return !isThere || stats.ctimeMs <= until ? [unkept] : [];
    return [{ path, before: outside(name), left: [{ kind: "unkept", reason }], made: [] }];
  });
}

/** So many are named in a state, the others are not. */
export const MAX_LISTED = 100;

function reasonOf(name: string, isLong: boolean): string {
  if (name.endsWith("/")) return "it is a repository of its own";
  if (!isUnicode(name)) return "its name is not UTF-8";
  return isLong ? TOO_LONG : "it was longer than undo.max_file_bytes or could not be read";
}
