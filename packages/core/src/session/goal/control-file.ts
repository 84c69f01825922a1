import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { join, posix, win32 } from "node:path";
import type { GoalFile, GoalStatus } from "../../engine/goal/goal-file.ts";
import { modelVisiblePath } from "../../environment/model-visible-path.ts";
import { errorCode, errorText } from "../../errors/error-text.ts";
import { ensurePrivateDirectory } from "../../trace/private-files.ts";

const FILE_NAME = "GOAL.yaml";
/** What a model may add to the file. */
const ROOM_BYTES = 16_384;

/**
 * Writes `GOAL.yaml` of a new goal, for the user alone; whatever stands there of an earlier one is replaced. From then on
 * only its `status` is read: the file is the model's, so that anything may be in its place.
 *
 * @throws The system's own error.
 */
export async function createControlFile(scratchpadDir: string, objective: string): Promise<GoalFile> {
  const { stringify } = await import("yaml");
  const path = join(scratchpadDir, FILE_NAME);
  const text = stringify({ objective, status: "active" }, { lineWidth: 0 });
  ensurePrivateDirectory(scratchpadDir);
  const copy = `${path}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    await writeFile(copy, text, { flag: "wx", mode: 0o600 });
    await rename(copy, path);
  } finally {
    await rm(copy, { force: true });
  }
  const maxBytes = 2 * Buffer.byteLength(text) + ROOM_BYTES;
  return { ...shownPaths(scratchpadDir), text, readStatus: () => readStatus(path, maxBytes) };
}

/** The files of a goal in the spelling for a model (PT-052). */
export function shownPaths(
  scratchpadDir: string,
  platform: NodeJS.Platform = process.platform,
): Pick<GoalFile, "path" | "planPath"> {
  const { join } = platform === "win32" ? win32 : posix;
  const shown = (name: string): string => modelVisiblePath(join(scratchpadDir, name), platform);
  return { path: shown(FILE_NAME), planPath: shown("PLAN.md") };
}

/** Follows no link, waits for nothing, and never rejects. */
async function readStatus(path: string, maxBytes: number): Promise<GoalStatus> {
  const problem = (what: string): GoalStatus => ({ problem: `the control file ${modelVisiblePath(path)} ${what}` });
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await readRegularFile(path, maxBytes));
    const { parseDocument } = await import("yaml");
    const document = parseDocument(text, { prettyErrors: false, logLevel: "silent" });
    const [broken] = document.errors;
    if (broken) return problem(`is not valid YAML: ${broken.message}`);
    const status: unknown = document.get("status");
    if (status === "active" || status === "complete" || status === "blocked") return status;
    return problem(`has no status that is known: it must be active, complete or blocked`);
  } catch (error) {
    return problem(`cannot be read: ${errorCode(error) ?? errorText(error)}`);
  }
}

async function readRegularFile(path: string, maxBytes: number): Promise<Uint8Array> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error("it is not a file");
    if (stats.size > maxBytes) throw new Error(`it has ${stats.size} bytes, more than ${maxBytes}`);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(stats.size), 0, stats.size, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
