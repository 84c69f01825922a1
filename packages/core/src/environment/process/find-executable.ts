import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/**
 * The first file of a name that may be run, in the directories of a search path.
 *
 * @param searchPath - As in `PATH`; of its directories only absolute ones are looked into, so that what is found does not
 *   depend on where it is run.
 * @returns An absolute path; links in it are not followed.
 */
export function findExecutable(name: string, searchPath: string | undefined): string | undefined {
  const directories = (searchPath ?? "").split(delimiter).filter((directory) => isAbsolute(directory));
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

/** True for a regular file, also behind a link, that this process may run. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
