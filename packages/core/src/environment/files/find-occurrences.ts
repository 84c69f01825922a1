const CRLF = Buffer.from("\r\n");

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

/**
 * Where a text stands in some content, byte for byte; if it is nowhere, where it stands when its line feeds may also
 * match CRLF. A text that holds a carriage return is only matched exactly.
 *
 * @param text - Not empty.
 */
export function findOccurrences(content: Buffer, text: string): Occurrences {
  const needle = Buffer.from(text);
  const exact = findAll(content, needle);
  if (exact.length > 0 || !text.includes("\n") || text.includes("\r")) return { ranges: exact, exact: true };
  return { ranges: findAcrossCrlf(content, needle), exact: false };
}

function findAll(content: Buffer, needle: Buffer): ByteRange[] {
  const ranges: ByteRange[] = [];
  for (let start = content.indexOf(needle); start !== -1; start = content.indexOf(needle, start + needle.length)) {
    ranges.push({ start, end: start + needle.length });
  }
  return ranges;
}

function findAcrossCrlf(content: Buffer, needle: Buffer): ByteRange[] {
  const returns = findAll(content, CRLF).map((range) => range.start);
  if (returns.length === 0) return [];
  const pieces = returns.map((position, i) => content.subarray(i === 0 ? 0 : (returns[i - 1] ?? 0) + 1, position));
  const withoutReturns = Buffer.concat([...pieces, content.subarray((returns.at(-1) ?? 0) + 1)]);
  // The i-th return stood before offset `position - i` of what is left, which is a line feed.
  const feeds = returns.map((position, i) => position - i);
  let passed = 0;
  const original = (offset: number): number => {
    while ((feeds[passed] ?? Number.POSITIVE_INFINITY) < offset) passed++;
    return offset + passed;
  };
  return findAll(withoutReturns, needle).map(({ start, end }) => ({ start: original(start), end: original(end) }));
}
