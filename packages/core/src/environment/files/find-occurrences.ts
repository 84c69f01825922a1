import { setImmediate as nextTurn } from "node:timers/promises";
import { FileProblem } from "./file-problem.ts";

const LF = 0x0a;
const CR = 0x0d;
/** What is searched without a pause; an unlucky text takes a third of a second for it. */
const WINDOW_BYTES = 1024 * 1024;

/** A range of bytes, `end` not included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface Occurrences {
  /** In order, not overlapping. */
  readonly ranges: readonly ByteRange[];
  /** False when they were found only by letting a line feed of the text match CRLF. */
  readonly exact: boolean;
}

interface Search {
  /** The search ends behind as many; default none. */
  readonly maxCount?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Where a text stands in some content, byte for byte; if it is nowhere, where it stands when its line feeds may also
 * match CRLF. A text that holds a carriage return is only matched exactly. Others get their turn while it searches.
 *
 * @param text - Not empty.
 * @throws {FileProblem} `search.signal` fired.
 */
export async function findOccurrences(content: Buffer, text: string, search: Search = {}): Promise<Occurrences> {
  const needle = Buffer.from(text);
  const exact = await findAll(content, needle, search);
  if (exact.length > 0 || !text.includes("\n") || text.includes("\r")) return { ranges: exact, exact: true };
  return { ranges: await findAcrossCrlf(content, needle, search), exact: false };
}

async function findAll(content: Buffer, needle: Buffer, search: Search): Promise<ByteRange[]> {
  const { maxCount = Number.POSITIVE_INFINITY, signal } = search;
  const ranges: ByteRange[] = [];
  let from = 0;
  for (let windowEnd = WINDOW_BYTES; from < content.length; windowEnd += WINDOW_BYTES) {
    // A match may begin in the window and end behind it.
    const searched = content.subarray(0, windowEnd + needle.length - 1);
    for (let start = searched.indexOf(needle, from); start !== -1; start = searched.indexOf(needle, from)) {
      from = start + needle.length;
      ranges.push({ start, end: from });
      if (ranges.length === maxCount) return ranges;
    }
    from = Math.max(from, windowEnd);
    await nextTurn();
    if (signal?.aborted) throw new FileProblem("interrupted; nothing was written");
  }
  return ranges;
}

async function findAcrossCrlf(content: Buffer, needle: Buffer, search: Search): Promise<ByteRange[]> {
  if (!content.includes("\r\n")) return [];
  const ranges = await findAll(withoutReturns(content), needle, search);
  const original = originalOffset(content);
  return ranges.map(({ start, end }) => ({ start: original(start), end: original(end) }));
}

function withoutReturns(content: Buffer): Buffer {
  const kept = Buffer.allocUnsafe(content.length);
  let length = 0;
  for (let i = 0; i < content.length; i++) if (!isDropped(content, i)) kept[length++] = content[i] ?? 0;
  return kept.subarray(0, length);
}

/**
 * Tells where an offset into `withoutReturns(content)` lies in the content: before a return that was dropped there.
 * Offsets must ascend.
 */
function originalOffset(content: Buffer): (offset: number) => number {
  let position = 0;
  let kept = 0;
  return (offset) => {
    for (; kept < offset; position++) if (!isDropped(content, position)) kept++;
    return position;
  };
}

function isDropped(content: Buffer, position: number): boolean {
  return content[position] === CR && content[position + 1] === LF;
}
