import { readlink, realpath } from "node:fs/promises";
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
  let existing = resolve(workspaceDir, path);
  let missing = "";
  for (;;) {
    const real = await unlessMissing(realpath(existing));
    if (real !== undefined) return join(real, missing);
    const target = await linkTarget(existing);
    if (target === undefined) {
      missing = join(basename(existing), missing);
      existing = dirname(existing);
    } else {
      existing = resolve(await realpath(dirname(existing)), target);
    }
  }
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch {
    return undefined;
  }
}

async function unlessMissing(found: Promise<string>): Promise<string | undefined> {
  try {
    return await found;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}
