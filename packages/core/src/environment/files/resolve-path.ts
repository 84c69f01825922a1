import { lstatSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode } from "../../errors/error-text.ts";
import { FileProblem } from "./file-problem.ts";

/**
 * The real path that a tool's path argument means, whether something is there or not.
 *
 * Links are followed, dangling ones too: what does not exist yet lies below the real path of its deepest existing
 * ancestor. Checks and operations both use this path, so that a link cannot lead one of them elsewhere.
 *
 * @param path - Absolute, or relative to `workspaceDir` (PT-112, PT-113).
 * @throws {FileProblem} `path` holds a NUL character; otherwise the system's own error (`ELOOP`, `EACCES` …).
 */
export async function resolvePath(workspaceDir: string, path: string): Promise<string> {
  if (path.includes("\0")) throw new FileProblem("the path holds a NUL character; give it without");
  return realPathOf(resolve(workspaceDir, path));
}

/** The same of an absolute path. */
export function realPathOf(path: string): string {
  let existing = path;
  let missing = "";
  for (;;) {
    const real = existingRealPath(existing);
    if (real !== undefined) return join(real, missing);
    const target = linkTarget(existing);
    if (target === undefined) {
      missing = join(basename(existing), missing);
      existing = dirname(existing);
    } else {
      existing = resolve(realpathSync.native(dirname(existing)), target);
    }
  }
}

/** Synchronous: it takes microseconds, the way through the thread pool many times that, and each call needs several. */
function existingRealPath(path: string): string | undefined {
  try {
    // Asking first costs less than an error that is thrown and dropped.
    return entryAt(path) && realpathSync.native(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}

function linkTarget(path: string): string | undefined {
  return entryAt(path)?.isSymbolicLink() ? readlinkSync(path) : undefined;
}

/** What is there, a link itself and not what it leads to; nothing below a file. */
export function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}
