const MAX_LINE_CHARACTERS = 2000;

/** A line as shown to the model: at most 2000 code points, then a marker with its whole length (PT-121), told as `lineBytes`. */
export function shortenLine(line: string, lineBytes: number | string = Buffer.byteLength(line)): string {
  const head = firstCodePoints(line, MAX_LINE_CHARACTERS);
  return head.length === line.length ? line : `${head}… [line truncated: ${lineBytes} bytes in all]`;
}

/** The first `count` code points of a text. */
export function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let i = 0; i < count && end < text.length; i++) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}
