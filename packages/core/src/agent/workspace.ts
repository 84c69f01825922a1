import { randomBytes } from "node:crypto";
import { mkdir, realpath, rmdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { errorCode, errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import { existingWorkspace } from "../session/existing-workspace.ts";
import { makeDirectories } from "../trace/make-directories.ts";

/** The directory of a session. */
export interface OpenWorkspace {
  /** Absolute and real, as commands that run there see it. */
  readonly path: string;
  /** Removes it again if it was made for this session and is empty. */
  abandon(): Promise<void>;
}

/**
 * The workspace of a session: the directory that was given, or a fresh one.
 *
 * @param hint - What to do where it is not there.
 * @throws {RookeryError} `workspace-missing` for a path that is not an existing directory.
 */
export async function openWorkspace(
  given: string | undefined,
  workspacesDir: string,
  hint = "name an existing directory",
): Promise<OpenWorkspace> {
  if (given === undefined) return freshWorkspace(workspacesDir);
  const path = await existingWorkspace(resolve(given), hint);
  return { path, abandon: async () => undefined };
}

async function freshWorkspace(workspacesDir: string): Promise<OpenWorkspace> {
  const workspaceDir = join(workspacesDir, `tmp-${randomBytes(4).toString("hex")}`);
  try {
    makeDirectories(workspacesDir);
    await mkdir(workspaceDir);
    return { path: await realpath(workspaceDir), abandon: () => rmdir(workspaceDir).catch(() => undefined) };
  } catch (error) {
    if (errorCode(error) === "EEXIST") return freshWorkspace(workspacesDir);
    throw new RookeryError("root-unwritable", `cannot make the workspace ${workspaceDir}: ${errorText(error)}`, {
      hint: "make room and rights for it, or name another data directory with --root or ROOKERY_HOME",
      cause: error,
    });
  }
}
