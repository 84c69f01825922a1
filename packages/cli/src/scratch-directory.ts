import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorText, RookeryError } from "@rookery/core";

/** Makes an empty directory for one use, among the system's temporary ones. @returns Its real path. */
export async function scratchDirectory(prefix: string): Promise<string> {
  try {
    return await realpath(await mkdtemp(join(tmpdir(), prefix)));
  } catch (error) {
    throw new RookeryError("workspace-missing", `cannot make a scratch directory: ${errorText(error)}`, {
      hint: "set TMPDIR to a directory that you may write",
      cause: error,
    });
  }
}
