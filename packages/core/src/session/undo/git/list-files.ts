import { accessSync, constants, existsSync, lstatSync, type Stats } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { isFlushedCopy } from "../../../environment/files/atomic-write.ts";
import { GitProblem, type PrivateRepository } from "./private-repository.ts";
import type { WorkTree } from "./work-tree.ts";

/** What a snapshot of a work tree is made of; paths relative to its root. */
export interface ListedFiles {
  readonly files: ReadonlyMap<string, Stats>;
  /** Of an earlier snapshot, and not there any more. */
  readonly gone: readonly string[];
  /** There, and not to be had: too long, unreadable, a repository of its own. */
  readonly leftOut: readonly string[];
  /** What git ignores; a directory ends with a slash and stands for all that is below it. */
  readonly ignored: readonly string[];
}

/**
 * The files of a work tree that are tracked or not ignored.
 *
 * @param options.apart - Directories that do not belong to it, wherever they lie.
 * @throws {GitProblem} Also when the signal fired.
 */
export async function listFiles(
  repository: PrivateRepository,
  tree: WorkTree,
  options: { readonly maxFileBytes: number; readonly apart: readonly string[]; readonly signal: AbortSignal },
): Promise<ListedFiles> {
  const { signal, maxFileBytes, apart } = options;
  const list = async (args: readonly string[], indexFile?: string): Promise<string[]> =>
    pathsIn(
      await repository.run(tree.root, ["ls-files", "-z", "--exclude-standard", ...args], {
        signal,
        ...(indexFile !== undefined && { indexFile }),
      }),
    );
  const hasIndex = tree.indexFile !== undefined && existsSync(tree.indexFile);
  // Side by side: a command waits for all of them.
  const [known, ignored, trackedIgnored] = await Promise.all([
    list(["--cached", "--others"]),
    list(["--others", "--ignored", "--directory"]),
    hasIndex ? list(["--cached", "--ignored"], tree.indexFile) : [],
  ]);
  const isDirectory = directoryTest(tree.root);
  const files = new Map<string, Stats>();
  const gone: string[] = [];
  const leftOut: string[] = [];
  for (const path of new Set([...known, ...trackedIgnored])) {
    if (signal.aborted) throw new GitProblem("the work tree has too many files", true);
    const full = join(tree.root, path);
    if (apart.some((directory) => full === directory || full.startsWith(directory + sep))) continue;
    if (path.endsWith("/") || !isUnicode(path)) {
      leftOut.push(path);
      continue;
    }
    // A file tool at work beside the command, or one that was killed, is no part of the state.
    if (isFlushedCopy(basename(path))) {
      gone.push(path);
      continue;
    }
    const stats = isDirectory(dirname(full)) ? lstatSync(full, { throwIfNoEntry: false }) : undefined;
    if (stats?.isFile() || stats?.isSymbolicLink()) {
      if (stats.size <= maxFileBytes && isReadable(full, stats)) files.set(path, stats);
      else leftOut.push(path);
    }
    if (!files.has(path)) gone.push(path);
  }
  return { files, gone, leftOut, ignored };
}

/** The paths of output that ends each with a NUL. */
export function pathsIn(output: Buffer): string[] {
  return output.toString().split("\0").slice(0, -1);
}

/** Bytes of a name that are not UTF-8 have been replaced by a sign in the reading. */
export function isUnicode(path: string): boolean {
  return !path.includes("\ufffd");
}

/** Whether each directory on the way is one, and no link. */
function directoryTest(root: string): (directory: string) => boolean {
  const known = new Map<string, boolean>([[root, true]]);
  const test = (directory: string): boolean => {
    const found = known.get(directory);
    if (found !== undefined) return found;
    const parent = dirname(directory);
    const isOne =
      parent !== directory && test(parent) && lstatSync(directory, { throwIfNoEntry: false })?.isDirectory();
    known.set(directory, isOne === true);
    return isOne === true;
  };
  return test;
}

function isReadable(path: string, stats: Stats): boolean {
  if (stats.isSymbolicLink() || (stats.mode & 0o444) === 0o444) return true;
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
