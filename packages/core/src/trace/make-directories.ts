import { mkdirSync, rmdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { errorCode } from "../errors/error-text.ts";

/**
 * Makes a directory and the missing ones above it.
 *
 * It goes up one step at a time and never asks twice for the same directory: the recursive mkdir of Node 20 does, and
 * spins forever in a file system that answers "not found" for whatever one would make in it, such as /proc.
 *
 * @param mode - Of each directory that is made, before the umask.
 * @returns The ones that were made, outermost first; none when it was there.
 * @throws The error of the system, what was made being taken away again; `EEXIST` or `ENOTDIR` where a file is in the way.
 */
export function makeDirectories(directory: string, mode?: number): string[] {
  const path = resolve(directory);
  try {
    return makeOne(path, mode);
  } catch (error) {
    const parent = dirname(path);
    if (errorCode(error) !== "ENOENT" || parent === path) throw error;
    const parents = makeDirectories(parent, mode);
    try {
      return [...parents, ...makeOne(path, mode)];
    } catch (ofPath) {
      removeEmpty(parents);
      throw ofPath;
    }
  }
}

function removeEmpty(directories: readonly string[]): void {
  try {
    for (const directory of directories.toReversed()) rmdirSync(directory);
  } catch {
    // Somebody has put something there: it is theirs now.
  }
}

function makeOne(path: string, mode: number | undefined): string[] {
  try {
    mkdirSync(path, { mode });
    return [path];
  } catch (error) {
    // Whatever mkdir answers for a directory that is there (EEXIST, EROFS, EPERM of a mount point), it is there.
    if (errorCode(error) !== "ENOENT" && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [];
    throw error;
  }
}
