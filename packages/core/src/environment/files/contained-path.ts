import { realpathSync } from "node:fs";
import { isAbsolute, normalize, sep } from "node:path";
import { modelVisiblePath } from "../model-visible-path.ts";
import { textArgument } from "./file-arguments.ts";
import { FileProblem } from "./file-problem.ts";
import { locateFile } from "./locate-file.ts";

/*
 * Paths of tools that stay in the workspace. A path is looked at three times: as it is written, as it is assessed, and
 * when the tool works on it; what does not exist is judged by where it would lie (`resolvePath`).
 */

/** A required path argument. @throws {FileProblem} It is absolute, goes up out of the workspace, or is not Unicode. */
export function containedPathArgument(args: Readonly<Record<string, unknown>>, name: string): string {
  const path = textArgument(args, name);
  if (isAbsolute(path)) throw new FileProblem("the path is absolute; give it relative to the workspace");
  if (normalize(path).split(sep)[0] === "..") {
    throw new FileProblem("the path leads out of the workspace; only files in the workspace can be used");
  }
  if (/\p{Surrogate}/u.test(path)) throw new FileProblem("the path holds half a character, which has no UTF-8 form");
  return path;
}

/** `locateFile`. @throws {FileProblem} As that, and when the file is not in the workspace. */
export async function locateContained(path: string, place: Parameters<typeof locateFile>[1]): Promise<string> {
  return insideOf(place.workspaceDir, await locateFile(path, place));
}

function insideOf(workspaceDir: string, real: string): string {
  const workspace = realpathSync.native(workspaceDir);
  const prefix = workspace.endsWith(sep) ? workspace : workspace + sep;
  if (real === workspace || real.startsWith(prefix)) return real;
  const where = modelVisiblePath(real);
  throw new FileProblem(`the path leads out of the workspace, to ${where}; only files in the workspace can be used`);
}
