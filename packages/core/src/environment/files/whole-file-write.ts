import { modelVisiblePath } from "../model-visible-path.ts";
import type { ToolExecutionContext } from "../tool.ts";
import type { WriteReport } from "./atomic-write.ts";
import { sha256 } from "./content-hash.ts";
import { describeMissingPath } from "./describe-missing-path.ts";
import type { FileGuard } from "./file-guard.ts";
import { FileProblem } from "./file-problem.ts";
import { countLines } from "./line-counter.ts";
import { changeCounts, overwriteDiff } from "./overwrite-diff.ts";
import { type PresentFile, readPresent } from "./present-file.ts";
import { checkSeen } from "./seen-state.ts";
import type { FileToolReport } from "./single-output.ts";
import { checkExpected } from "./stale-check.ts";
import { diffPath } from "./unified-diff.ts";
import { writeWithParents } from "./write-with-parents.ts";

/** A file's whole content, as a call gives it. */
export interface WholeFileWrite {
  /** As the model gave it. */
  readonly path: string;
  readonly content: Buffer;
  /** Absent: either. */
  readonly mode?: "create" | "replace";
  readonly expectedSha256: string | undefined;
}

export interface WritePlace {
  readonly realPath: string;
  readonly files: FileGuard;
  /** Of the report. */
  readonly maxCharacters: number;
  readonly context: Pick<ToolExecutionContext, "workspaceDir" | "state" | "signal">;
  /** How the content gets to its place; default `writeWithParents`. */
  readonly install?: (realPath: string, content: Buffer) => Promise<WriteReport>;
}

/**
 * Writes a file, unless it is not what the call, the session or the person who allowed it took it for, and reports what
 * changed. The caller sees to it that nobody else of the session writes to it meanwhile.
 *
 * @throws {FileProblem} Nothing was written.
 */
export async function writeWholeFile(write: WholeFileWrite, place: WritePlace): Promise<FileToolReport> {
  const { realPath, files, context, install = writeWithParents } = place;
  if (context.signal?.aborted) throw new FileProblem("interrupted; nothing was written");
  const present = await readPresent(realPath, write.expectedSha256 !== undefined, context.signal);
  await checkMode(write.mode, realPath, present);
  checkExpected(write.expectedSha256, present?.sha256);
  const now = sha256(write.content);
  const details = { path: realPath, sha256: now };
  const shown = modelVisiblePath(write.path);
  if (present?.sha256 === now) {
    files.remember(realPath, now);
    return { text: `${shown} is unchanged: it has this content already (${sizeOf(write.content)})`, details };
  }
  checkSeen(context.state, files.lastSeen(realPath), present?.fingerprint ?? null);
  if (context.signal?.aborted) throw new FileProblem("interrupted; nothing was written");
  const written = await files.install(realPath, write.content, install);

  const head = `${present ? "Overwrote" : "Created"} ${shown} (${sizeOf(write.content)})`;
  if (!present) return { text: head, details: { ...details, ...written } };
  const diff = present.content
    ? await overwriteDiff(present.content, write.content, {
        path: diffPath(context.workspaceDir, write.path),
        maxCharacters: place.maxCharacters - head.length - 1,
      })
    : withoutDiff(write.content, present);
  return { text: `${head}\n${diff}`, details: { ...details, ...written } };
}

/** Says that a file is there that was not to be. */
export function alreadyThere(size?: number): FileProblem {
  const what = size === undefined ? "" : ` with ${count(size, "byte")}`;
  return new FileProblem(`it exists already${what}; use mode "replace" to write over it`);
}

/** A content's size in lines and bytes. */
export function sizeOf(content: Buffer): string {
  return `${count(countLines(content), "line")}, ${count(content.length, "byte")}`;
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** @throws {FileProblem} The file is there and was to be created, or is not and was to be replaced. */
async function checkMode(
  mode: WholeFileWrite["mode"],
  realPath: string,
  present: PresentFile | undefined,
): Promise<void> {
  if (mode === "create" && present) throw alreadyThere(present.size);
  if (mode === "replace" && !present) {
    throw new FileProblem(`${await describeMissingPath(realPath)}; use mode "create" to make it`);
  }
}

function withoutDiff(content: Buffer, { lineCount, size }: PresentFile): string {
  return lineCount === undefined ? `[it had ${count(size, "byte")}]` : changeCounts(countLines(content), lineCount);
}
