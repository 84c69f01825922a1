import type { StructuredPatchHunk } from "diff";
import { countLines } from "./line-counter.ts";
import { type Replacement, replaceRanges } from "./replace-ranges.ts";
import { CONTEXT_LINES, diffHunks, formatFileHeader, formatHunk } from "./unified-diff.ts";

const MAX_HUNKS = 5;
const LF = 0x0a;

/**
 * A unified diff of an edit: one hunk for each place, places close together in one (PT-131).
 *
 * Only the lines around the places are looked at, whatever the size of the file. After five hunks, or where the next
 * one does not fit, a last line says how many replacements are not shown (PT-132).
 *
 * @param options.path - See `formatFileHeader`.
 * @param options.maxCharacters - Of the result.
 */
export async function editDiff(
  before: Buffer,
  replacements: readonly Replacement[],
  options: { readonly path: string; readonly maxCharacters: number },
): Promise<string> {
  const parts = [formatFileHeader(options.path)];
  let left = replacements.length;
  let room = options.maxCharacters - (parts[0]?.length ?? 0) - remainder(left).length - 1;
  let newLineOffset = 0;
  let position = 0;
  let linesBeforeSite = 0;
  for (const site of sitesOf(before, replacements)) {
    if (surelyTooLong(before, site, options.maxCharacters)) break;
    linesBeforeSite += countLines(before.subarray(position, site.start));
    position = site.start;
    const hunk = await siteHunk(before, site, linesBeforeSite + 1, newLineOffset);
    const text = formatHunk(hunk);
    room -= text.length + 1;
    if (room < 0) break;
    parts.push(text);
    newLineOffset += hunk.newLines - hunk.oldLines;
    left -= site.replacements.length;
    if (parts.length > MAX_HUNKS) break;
  }
  if (parts.length === 1) return "[diff left out: it does not fit the output]";
  return [...parts, ...(left > 0 ? [remainder(left)] : [])].join("\n");
}

/** Of places that share a site nearly every line is shown, with two characters at least. */
function surelyTooLong(before: Buffer, { start, end, replacements }: Site, maxCharacters: number): boolean {
  return replacements.length > 1 && 2 * countLines(before.subarray(start, end)) > maxCharacters;
}

function remainder(count: number): string {
  return `…and ${count} more replacements`;
}

/** Whole lines of the old content, context included, with the replacements inside. */
interface Site {
  readonly start: number;
  readonly end: number;
  readonly replacements: readonly Replacement[];
}

/** One by one, so that those not asked for cost nothing. */
function* sitesOf(before: Buffer, replacements: readonly Replacement[]): Generator<Site> {
  let last: { start: number; end: number; replacements: Replacement[] } | undefined;
  let feed = -1;
  for (const replacement of replacements) {
    if (last && replacement.end <= feed) {
      last.replacements.push(replacement);
      continue;
    }
    feed = before.indexOf(LF, replacement.end);
    if (feed === -1) feed = before.length;
    const start = linesBefore(before, replacement.start);
    const end = linesAfter(before, replacement.end);
    if (last && start <= last.end) {
      last.replacements.push(replacement);
      last.end = end;
    } else {
      if (last) yield last;
      last = { start, end, replacements: [replacement] };
    }
  }
  if (last) yield last;
}

/** Where the line of a position begins, `CONTEXT_LINES` lines further up. */
function linesBefore(content: Buffer, position: number): number {
  let feed = position;
  for (let i = 0; i <= CONTEXT_LINES && feed >= 0; i++) feed = content.subarray(0, feed).lastIndexOf(LF);
  return feed + 1;
}

/** Where the line of a position ends, `CONTEXT_LINES` lines further down. */
function linesAfter(content: Buffer, position: number): number {
  let end = position;
  for (let i = 0; i <= CONTEXT_LINES && end < content.length; i++) {
    const feed = content.indexOf(LF, end);
    end = feed === -1 ? content.length : feed + 1;
  }
  return end;
}

async function siteHunk(
  before: Buffer,
  site: Site,
  firstLine: number,
  newLineOffset: number,
): Promise<StructuredPatchHunk> {
  const old = before.subarray(site.start, site.end);
  const moved = site.replacements.map((one) => ({ ...one, start: one.start - site.start, end: one.end - site.start }));
  const now = replaceRanges(old, moved);
  const hunks = await diffHunks(old, now, Number.MAX_SAFE_INTEGER);
  const { lines, skipped } = trimContext(hunks?.[0]?.lines ?? wholeLines(old, now));
  return {
    oldStart: firstLine + skipped,
    oldLines: lines.filter((line) => /^[ -]/.test(line)).length,
    newStart: firstLine + skipped + newLineOffset,
    newLines: lines.filter((line) => /^[ +]/.test(line)).length,
    lines,
  };
}

/** At most `CONTEXT_LINES` before the first and after the last change; `\` lines belong to the line above. */
function trimContext(lines: readonly string[]): { lines: string[]; skipped: number } {
  const isChange = (line: string): boolean => /^[+-]/.test(line);
  const skipped = Math.max(0, lines.findIndex(isChange) - CONTEXT_LINES);
  let end = lines.findLastIndex(isChange) + 1;
  for (let context = 0; end < lines.length; end++) {
    if (lines[end]?.startsWith(" ") && ++context > CONTEXT_LINES) break;
  }
  return { lines: lines.slice(skipped, end), skipped };
}

/** For places that differ in too many lines: everything removed, everything added. */
function wholeLines(old: Buffer, now: Buffer): string[] {
  return [...signed("-", old), ...signed("+", now)];
}

function signed(sign: "-" | "+", content: Buffer): string[] {
  const lines = content
    .toString("latin1")
    .split("\n")
    .map((line) => sign + line);
  const rest = lines.pop();
  return rest === sign || rest === undefined ? lines : [...lines, rest, "\\ No newline at end of file"];
}
