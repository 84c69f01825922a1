import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** A git work tree, as its files say; nothing of its configuration has been followed. */
export interface WorkTree {
  /** Absolute. */
  readonly root: string;
  /** Absent where ours cannot read it. */
  readonly indexFile?: string;
  readonly excludeFile: string;
  /** Where its objects lie; absent where they cannot be borrowed. */
  readonly objectsDir?: string;
}

/**
 * The work tree that a directory lies in; absent where it lies in none. Git is not asked, since it would read the
 * repository's configuration, which may name programs to run.
 */
export function findWorkTree(directory: string): WorkTree | undefined {
  for (let root = directory; ; root = dirname(root)) {
    const gitDir = gitDirOf(root);
    if (gitDir !== undefined) return workTree(root, gitDir);
    if (dirname(root) === root) return undefined;
  }
}

function gitDirOf(root: string): string | undefined {
  const dotGit = join(root, ".git");
  const stats = statSync(dotGit, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return existsSync(join(dotGit, "HEAD")) ? dotGit : undefined;
  if (!stats?.isFile() || stats.size > MAX_POINTER_BYTES) return undefined;
  const pointer = /^gitdir: (.+)\n?$/.exec(readFileSync(dotGit, "utf8"))?.[1];
  return pointer === undefined ? undefined : resolve(root, pointer);
}

function workTree(root: string, gitDir: string): WorkTree {
  const commonDir = resolve(gitDir, smallFile(join(gitDir, "commondir")).trim() || ".");
  const objectsDir = join(commonDir, "objects");
  // An index and objects of another hash are none that ours could refer to.
  const isOurs = !/objectformat\s*=\s*(?!\s|sha1\b)/i.test(smallFile(join(commonDir, "config")));
  // A line break would end the name in the list of alternates.
  const isBorrowable = isOurs && existsSync(objectsDir) && !objectsDir.includes("\n");
  return {
    root,
    ...(isOurs && { indexFile: join(gitDir, "index") }),
    excludeFile: join(commonDir, "info", "exclude"),
    ...(isBorrowable && { objectsDir }),
  };
}

const MAX_POINTER_BYTES = 65_536;

/** Empty where it is not there or is no small regular file. */
function smallFile(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile() || stats.size > MAX_POINTER_BYTES) return "";
  return readFileSync(path, "utf8");
}
