import type { OmniMessage } from "./message.ts";
import { isOmniMessage, messageProblems } from "./validate.ts";

/**
 * A line that could not be used. `torn` marks the last line of an input that ends in the middle of it, as a killed
 * writer leaves it; every other problem is damage.
 */
export interface LineProblem {
  /** 1 for the first line; blank lines count. */
  readonly line: number;
  /** What was found, to follow the words "line N". */
  readonly problem: string;
  readonly torn: boolean;
}

/**
 * Reads JSON lines as they arrive.
 *
 * Lines end with LF and nothing else, so that U+2028 inside a string is data. CRLF, blank lines and a byte order mark at
 * the start are tolerated; bytes that are not UTF-8 are read as U+FFFD. A last line without LF counts if it is whole. A
 * line that is not JSON is reported and the reading goes on. Memory holds one chunk and one line, and the time is linear
 * in the bytes. What `chunks` throws passes through.
 */
export async function* readJsonLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly line: number; readonly value: unknown } | LineProblem> {
  const decoder = new TextDecoder();
  let line = 1;
  // The pieces of the line that is still open: joined once, so that a line of many chunks costs no more than its length.
  let open: string[] = [];
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      open.push(text.slice(start, end));
      const read = parseLine(open, line, false);
      if (read !== undefined) yield read;
      open = [];
      line += 1;
      start = end + 1;
    }
    if (start < text.length) open.push(text.slice(start));
  }
  open.push(decoder.decode());
  const last = parseLine(open, line, true);
  if (last !== undefined) yield last;
}

/** Reads JSON lines as messages; a value that is not a message is a problem of its line. See {@link readJsonLines}. */
export async function* readMessages(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly line: number; readonly message: OmniMessage } | LineProblem> {
  for await (const read of readJsonLines(chunks)) {
    if ("problem" in read) yield read;
    else if (isOmniMessage(read.value)) yield { line: read.line, message: read.value };
    else {
      const problem = `is not a message: ${messageProblems(read.value).join("; ")}`;
      yield { line: read.line, problem, torn: false };
    }
  }
}

/** A message as one line of JSON, with the LF that ends it. */
export function toJsonLine(message: OmniMessage): string {
  return `${JSON.stringify(message)}\n`;
}

function parseLine(
  pieces: readonly string[],
  line: number,
  unterminated: boolean,
): { readonly line: number; readonly value: unknown } | LineProblem | undefined {
  let text = "";
  try {
    text = pieces.join("");
    if (!/\S/.test(text)) return undefined;
    return { line, value: JSON.parse(text) as unknown };
  } catch {
    return { line, problem: `is not JSON: ${quoteStart(text, pieces)}`, torn: unterminated };
  }
}

/** The line's first characters; `text` stays empty where the pieces are too long to be one string. */
function quoteStart(text: string, pieces: readonly string[]): string {
  const start = (text || (pieces[0] ?? "")).trimEnd();
  return JSON.stringify(start.length > 40 ? `${start.slice(0, 40)}...` : start);
}
