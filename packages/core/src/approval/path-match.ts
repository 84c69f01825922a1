import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { relative, sep } from "node:path";
import picomatch from "picomatch";
import { OUTSIDE_WORKSPACE } from "./rule.ts";

/**
 * True where a path is one that a rule's `path` means: by its name relative to the workspace where it lies in it, by its
 * absolute name where it does not. A pattern that is absolute itself is compared with the absolute name everywhere.
 *
 * @param path - Absolute and real.
 * @param workspace - Absolute; links in it are followed.
 */
export function pathMatches(pattern: string, path: string, workspace: string): boolean {
  const inside = insideWorkspace(path, workspace);
  if (pattern === OUTSIDE_WORKSPACE) return inside === undefined;
  const glob = pattern.replace(/^~(?=\/)/, () => escaped(homedir())).replace(/\/$/, "/**");
  return picomatch.isMatch(glob.startsWith("/") ? path : (inside ?? path), glob, { dot: true });
}

/** The path relative to the workspace, which itself is `.`; absent outside of it. */
export function insideWorkspace(path: string, workspace: string): string | undefined {
  const below = relative(realPath(workspace), path);
  if (below === "") return ".";
  return below === ".." || below.startsWith(`..${sep}`) ? undefined : below;
}

/** True where two spellings lead to one directory. */
export function isSamePlace(a: string, b: string): boolean {
  return a === b || realPath(a) === realPath(b);
}

/** A pattern that matches this path and no other; absent for one with a backslash, which no pattern can name. */
export function exactGlob(path: string): string | undefined {
  return path.includes("\\") ? undefined : escaped(path);
}

function escaped(path: string): string {
  return path.replaceAll(/[^\w/.\-\u0080-\u{10ffff}]/gu, (sign) => `\\${sign}`);
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
