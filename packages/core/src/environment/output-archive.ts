import { createHash } from "node:crypto";
import { lstat, open, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { errorCode } from "../errors/error-text.ts";
import { ensurePrivateDirectory } from "../trace/private-files.ts";
import type { OutputCapture } from "./output-capture.ts";
import { writeParts } from "./write-parts.ts";

/** What became of the text of a call whose output was cut: where it is and whether all of it, or why it is not there. */
export type ArchiveOutcome = { readonly path: string; readonly complete: boolean } | { readonly errorCode: string };

/**
 * Saves the text of one call as `<scratchpad>/truncated-tool-output/<tool>-<hash of the call id>.log`, for the user alone
 * (PT-054, PT-056). Never throws; a file that could not be written whole is removed.
 *
 * @param scratchpadDir - The session's own; made when it does not exist.
 */
export async function archiveOutput(
  capture: OutputCapture,
  { scratchpadDir, toolName, toolCallId }: { scratchpadDir: string; toolName: string; toolCallId: string },
): Promise<ArchiveOutcome> {
  const directory = resolve(scratchpadDir, "truncated-tool-output");
  const path = join(directory, fileName(toolName, toolCallId));
  const { parts, complete } = capture.end();
  try {
    ensurePrivateDirectory(directory);
    // A link here would let a command choose where the harness writes.
    if ((await lstat(directory)).isSymbolicLink()) return { errorCode: "ELOOP" };
    await writeNewFile(path, parts);
    return { path, complete };
  } catch (error) {
    return { errorCode: errorCode(error) ?? "EIO" };
  }
}

function fileName(toolName: string, toolCallId: string): string {
  const hash = createHash("sha256").update(toolCallId).digest("hex").slice(0, 16);
  return `${toolName.replace(/[^\w-]/g, "_").slice(0, 64)}-${hash}.log`;
}

async function writeNewFile(path: string, parts: readonly Buffer[]): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await writeParts(file, parts);
    await file.close();
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(path, { force: true });
    throw error;
  }
}
