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
  const lines = new LineReader();
  for await (const chunk of chunks) yield* lines.push(chunk);
  yield* lines.end();
}

/** Reads JSON lines as messages; a value that is not a message is a problem of its line. See {@link readJsonLines}. */
export async function* readMessages(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly line: number; readonly message: OmniMessage } | LineProblem> {
  for await (const read of readJsonLines(chunks)) yield asMessage(read);
}

/**
 * The same for whoever reads to the end: every message or problem is given to `visit` at once, which takes half the time.
 */
export async function visitMessages(
  chunks: AsyncIterable<Uint8Array>,
  visit: (entry: { readonly line: number; readonly message: OmniMessage } | LineProblem) => void,
): Promise<void> {
  const lines = new LineReader();
  for await (const chunk of chunks) for (const read of lines.push(chunk)) visit(asMessage(read));
  for (const read of lines.end()) visit(asMessage(read));
}

/** A message as one line of JSON, with the LF that ends it. */
export function toJsonLine(message: OmniMessage): string {
  return `${JSON.stringify(message)}\n`;
}

type ReadLine = { readonly line: number; readonly value: unknown };

function asMessage(
  read: ReadLine | LineProblem,
): { readonly line: number; readonly message: OmniMessage } | LineProblem {
  if ("problem" in read) return read;
  if (isOmniMessage(read.value)) return { line: read.line, message: read.value };
  return { line: read.line, problem: `is not a message: ${messageProblems(read.value).join("; ")}`, torn: false };
}

/** Takes bytes as they come and gives the lines that have become whole. */
class LineReader {
  #line = 1;
  /** The pieces of the line that is still open: joined once, so that a line of many chunks costs no more than its length. */
  #open: Uint8Array[] = [];

  *push(chunk: Uint8Array): Generator<ReadLine | LineProblem> {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      const piece = chunk.subarray(start, end);
      const read = parseLine(this.#open.length === 0 ? [piece] : [...this.#open, piece], this.#line, false);
      if (read !== undefined) yield read;
      this.#open = [];
      this.#line += 1;
      start = end + 1;
    }
    if (start < chunk.length) this.#open.push(chunk.subarray(start));
  }

  /** The input has ended. */
  *end(): Generator<ReadLine | LineProblem> {
    const last = parseLine(this.#open, this.#line, true);
    if (last !== undefined) yield last;
  }
}

const LF = 0x0a;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function parseLine(
  pieces: readonly Uint8Array[],
  line: number,
  unterminated: boolean,
): ReadLine | LineProblem | undefined {
  let text: string | undefined;
  try {
    text = decoder.decode(joined(pieces));
    if (line === 1 && text.startsWith(BYTE_ORDER_MARK)) text = text.slice(1);
    return { line, value: JSON.parse(text) as unknown };
  } catch {
    // Most lines are not blank: only one that cannot be read is looked at.
    if (text !== undefined && !/\S/.test(text)) return undefined;
    return { line, problem: `is not JSON: ${quoteStart(text, pieces)}`, torn: unterminated };
  }
}

const BYTE_ORDER_MARK = "\ufeff";

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array(0), ...others] = pieces;
  if (others.length === 0) return first;
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}

/** The line's first characters; there is no text where the pieces are too long to be one string. */
function quoteStart(text: string | undefined, pieces: readonly Uint8Array[]): string {
  const start = (text ?? decoder.decode(pieces[0]?.subarray(0, MAX_QUOTED_BYTES))).trimEnd();
  return JSON.stringify(start.length > 40 ? `${start.slice(0, 40)}...` : start);
}

const MAX_QUOTED_BYTES = 200;
