import { realpath, stat } from "node:fs/promises";
import { errorCode, errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";

/**
 * The real path of a workspace that has to be there.
 *
 * @param workspaceDir - Absolute.
 * @param hint - What to do where it is not there.
 * @throws {RookeryError} `workspace-missing` for a path that is not an existing directory.
 */
export async function existingWorkspace(workspaceDir: string, hint: string): Promise<string> {
  const found = await stat(workspaceDir).catch((error: unknown) => errorCode(error) ?? errorText(error));
  if (typeof found !== "string" && found.isDirectory()) return await realpath(workspaceDir);
  const what =
    typeof found !== "string"
      ? "is not a directory"
      : found === "ENOENT"
        ? "does not exist"
        : `cannot be used: ${found}`;
  throw new RookeryError("workspace-missing", `the workspace ${JSON.stringify(workspaceDir)} ${what}`, { hint });
}
