import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { modelVisiblePath } from "../model-visible-path.ts";
import { FileProblem } from "./file-problem.ts";
import { isProtectedPath } from "./protected-paths.ts";
import { resolvePath } from "./resolve-path.ts";

/**
 * The real path a file tool works on.
 *
 * @param path - The argument as the model gave it.
 * @param place.protectedPaths - See `EnvironmentConfig`.
 * @throws {FileProblem} the path is protected or cannot be one; otherwise the system's own error.
 */
export async function locateFile(
  path: string,
  place: { readonly workspaceDir: string; readonly protectedPaths?: readonly string[] | undefined },
): Promise<string> {
  const real = await resolvePath(place.workspaceDir, path);
  if (await isProtectedPath([resolve(place.workspaceDir, path), real], place.protectedPaths ?? [])) {
    throw new FileProblem("it holds the harness's own secrets, which no file tool may touch; work without it");
  }
  return real;
}

/** A path for a person to decide by: as given, and where it really leads when a link is on the way. */
export async function spellTarget(path: string, workspaceDir: string): Promise<string> {
  const real = await resolvePath(workspaceDir, path);
  const straight = resolve(realpathSync.native(workspaceDir), path) === real;
  return straight ? modelVisiblePath(path) : `${modelVisiblePath(path)} -> ${modelVisiblePath(real)}`;
}
