import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { modelVisiblePath } from "../model-visible-path.ts";
import type { ToolExecutionContext } from "../tool.ts";
import { FileProblem } from "./file-problem.ts";
import { isProtectedPath } from "./protected-paths.ts";
import { resolvePath } from "./resolve-path.ts";

type Assessed = Pick<ToolExecutionContext, "workspaceDir" | "paths">;

/**
 * The real path a file tool works on: the one it was assessed with, where it was.
 *
 * @param path - The argument as the model gave it.
 * @param place.protectedPaths - See `EnvironmentConfig`.
 * @throws {FileProblem} the path is protected, cannot be one, or leads elsewhere than when it was assessed; otherwise
 *   the system's own error.
 */
export async function locateFile(
  path: string,
  place: Assessed & { readonly protectedPaths?: readonly string[] | undefined },
): Promise<string> {
  const real = await resolvePath(place.workspaceDir, path);
  if (await isProtectedPath([resolve(place.workspaceDir, path), real], place.protectedPaths ?? [])) {
    throw new FileProblem("it holds the harness's own secrets, which no file tool may touch; work without it");
  }
  if (real !== (assessedOf(place) ?? real)) {
    throw new FileProblem(`the path now leads to ${modelVisiblePath(real)}; call again`);
  }
  return real;
}

/** The real path a call is assessed with; all that is said of the call must be said of this one. */
export async function assessedPath(path: string, place: Assessed): Promise<string> {
  return assessedOf(place) ?? (await resolvePath(place.workspaceDir, path));
}

/** Every file tool declares one path. */
function assessedOf({ paths }: Assessed): string | undefined {
  return (paths?.write ?? paths?.read)?.[0];
}

/** A path for a person to decide by: as given, and where it really leads when a link is on the way. */
export async function spellTarget(path: string, place: Assessed): Promise<string> {
  const real = await assessedPath(path, place);
  const straight = resolve(realpathSync.native(place.workspaceDir), path) === real;
  return straight ? modelVisiblePath(path) : `${modelVisiblePath(path)} -> ${modelVisiblePath(real)}`;
}
