import { relative, resolve, sep } from "node:path";
import type { StructuredPatchHunk } from "diff";
import { modelVisiblePath } from "../model-visible-path.ts";
import { shortenLine } from "./shorten-line.ts";

/** Lines of context on each side of a change. */
export const CONTEXT_LINES = 3;

/** Bounds the work by the number of changed lines, so that equal input has equal output; the time is the last resort. */
const LIMITS = { maxEditLength: 1000, timeout: 1000 };

/**
 * The hunks between two contents, compared byte for byte.
 *
 * @param context - Lines of context; two changes with at most twice as many between them share a hunk.
 * @returns `undefined` when the contents differ in more than 1000 lines.
 */
export async function diffHunks(
  before: Buffer,
  after: Buffer,
  context: number,
): Promise<StructuredPatchHunk[] | undefined> {
  const { structuredPatch } = await import("diff");
  // Latin-1 gives every byte a character of its own, so nothing is lost in the comparison.
  const [left, right] = [before.toString("latin1"), after.toString("latin1")];
  return structuredPatch("", "", left, right, undefined, undefined, { ...LIMITS, context })?.hunks;
}

/** How a diff names a file: relative to the workspace where it lies inside, else absolute. */
export function diffPath(workspaceDir: string, path: string): string {
  const absolute = resolve(workspaceDir, path);
  const inside = relative(workspaceDir, absolute);
  return modelVisiblePath(inside.split(sep)[0] === ".." ? absolute : inside);
}

/** The two header lines of git's style. */
export function formatFileHeader(path: string): string {
  const name = path.startsWith("/") ? path : `/${path}`;
  return `--- a${name}\n+++ b${name}`;
}

/** A hunk in git's style, its lines decoded as UTF-8, without carriage returns, NUL as `␀`, overlong ones shortened. */
export function formatHunk(hunk: StructuredPatchHunk): string {
  const head = `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`;
  return [head, ...hunk.lines.map(formatLine)].join("\n");
}

function range(start: number, count: number): string {
  if (count === 1) return String(start);
  return `${count === 0 ? start - 1 : start},${count}`;
}

function formatLine(line: string): string {
  const text = Buffer.from(line.slice(1), "latin1").toString();
  return `${line[0]}${shortenLine(text.replace(/\r$/, "")).replaceAll("\0", "␀")}`;
}

/** How many lines hunks add and remove. */
export function countChanges(hunks: readonly StructuredPatchHunk[]): { added: number; removed: number } {
  const signs = hunks.flatMap((hunk) => hunk.lines.map((line) => line[0]));
  return {
    added: signs.filter((sign) => sign === "+").length,
    removed: signs.filter((sign) => sign === "-").length,
  };
}
