import { closeSync, constants, openSync, readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../errors/error-text.ts";
import { FileProblem } from "./file-problem.ts";

/** Opens a directory without the right to list it (Linux). */
const O_PATH = 0o10_000_000;

/**
 * Does work on a file by a path whose directory nobody can put another one or a link in the place of: on Linux, by way of
 * the open directory. Elsewhere the path stays as it is.
 *
 * @param realPath - With links resolved; its directory exists.
 * @throws {FileProblem} The directory is not there any more; otherwise what `work` throws and the system's own error.
 */
export async function inPinnedDirectory<T>(realPath: string, work: (path: string) => Promise<T>): Promise<T> {
  if (process.platform !== "linux") return await work(realPath);
  const directory = dirname(realPath);
  const fd = openSync(directory, O_PATH | constants.O_DIRECTORY);
  try {
    const pinned = `/proc/self/fd/${fd}`;
    const found = targetOf(pinned);
    if (found === undefined) return await work(realPath);
    if (found !== directory) throw new FileProblem("its directory was replaced meanwhile; call again");
    return await work(join(pinned, basename(realPath)));
  } finally {
    closeSync(fd);
  }
}

/** `undefined` where no `/proc` is mounted. */
function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
