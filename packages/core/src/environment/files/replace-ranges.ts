import type { ByteRange } from "./find-occurrences.ts";

const LF = 0x0a;
const CR = 0x0d;

/** One place of an edit: what stands at `start` to `end` of the old content becomes `bytes`. */
export interface Replacement extends ByteRange {
  readonly bytes: Buffer;
}

/**
 * What each range becomes. Line feeds of the new text take the line ending found at the place, so that no line of a
 * CRLF file gets another ending; where either text holds a carriage return, it is taken to mean what it says.
 */
export function toReplacements(
  content: Buffer,
  ranges: readonly ByteRange[],
  oldText: string,
  newText: string,
): Replacement[] {
  const literal = Buffer.from(newText);
  if (!newText.includes("\n") || oldText.includes("\r") || newText.includes("\r")) {
    return ranges.map((range) => ({ ...range, bytes: literal }));
  }
  const crlf = Buffer.from(newText.replaceAll("\n", "\r\n"));
  const isCrlf = crlfFinder(content);
  return ranges.map((range) => ({ ...range, bytes: isCrlf(range.start) ? crlf : literal }));
}

/**
 * Tells whether the line at a position ends in CRLF; the last line of a file counts as ending like the one before it.
 * Positions must ascend, so that a long line is searched only once.
 */
function crlfFinder(content: Buffer): (position: number) => boolean {
  const last = content.lastIndexOf(LF);
  let feed = -1;
  return (position) => {
    if (feed < position) feed = position > last ? last : content.indexOf(LF, position);
    return content[feed - 1] === CR;
  };
}

/** The content with every replacement made; all bytes between them are kept. */
export function replaceRanges(content: Buffer, replacements: readonly Replacement[]): Buffer {
  const pieces: Buffer[] = [];
  let position = 0;
  for (const { start, end, bytes } of replacements) {
    pieces.push(content.subarray(position, start), bytes);
    position = end;
  }
  return Buffer.concat([...pieces, content.subarray(position)]);
}
