import { countLines } from "../../files/line-counter.ts";
import { type Replacement, replaceRanges } from "../../files/replace-ranges.ts";
import { diffHunks, formatHunk } from "../../files/unified-diff.ts";
import { shorten } from "../../shorten.ts";

const LF = 0x0a;
const MAX_CHARACTERS = 16_000;
/** More are not compared: each line costs a hundred times its room. */
const MAX_COMPARED_LINES = 20_000;

/**
 * The lines that one replacement removes, behind `- `, and adds, behind `+ `, in the order of the file, at most 16,000
 * characters of them. Of very many lines those that stay are not left out.
 */
export async function changedLines(before: Buffer, replacement: Replacement): Promise<string> {
  const { start, end, bytes } = replacement;
  const from = start === 0 ? 0 : before.lastIndexOf(LF, start - 1) + 1;
  const feed = before[end - 1] === LF && end > start ? end - 1 : before.indexOf(LF, end);
  const old = before.subarray(from, feed === -1 ? before.length : feed + 1);
  const now = replaceRanges(old, [{ start: start - from, end: end - from, bytes }]);
  const isLong = [old, now].some((lines) => countLines(lines) > MAX_COMPARED_LINES);
  const hunks = isLong ? undefined : await diffHunks(old, now, 0);
  if (hunks === undefined) return shorten([...signed("-", old), ...signed("+", now)].join("\n"), MAX_CHARACTERS);
  const lines = hunks.flatMap((hunk) => formatHunk(hunk).split("\n").slice(1));
  const changes = lines.filter((line) => /^[+-]/.test(line)).map((line) => `${line[0]} ${line.slice(1)}`);
  return shorten(changes.join("\n"), MAX_CHARACTERS);
}

function signed(sign: "-" | "+", content: Buffer): string[] {
  return content
    .toString("utf8", 0, MAX_CHARACTERS)
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `${sign} ${line}`);
}
