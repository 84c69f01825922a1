import { shortenLine } from "./shorten-line.ts";

const LF = 0x0a;
const CR = 0x0d;
/** Holds 2000 code points of four bytes and a carriage return; the rest of a line is only counted. */
const MAX_KEPT_LINE_BYTES = 8001;

/** Splits UTF-8 that comes in pieces into lines and keeps those of one window; memory is bounded by the window. */
export class LineCollector {
  readonly kept: string[] = [];
  /** How many lines have ended so far. */
  lineCount = 0;
  /** Some kept line ended in CRLF. */
  crlf = false;
  /** Some kept line held bytes that are not UTF-8. */
  replaced = false;
  readonly #first: number;
  readonly #last: number;
  #room: number;
  #pieces: Buffer[] = [];
  #keptBytes = 0;
  #lineBytes = 0;

  constructor(window: { offset: number; limit: number; maxCharacters: number }) {
    this.#first = window.offset - 1;
    this.#last = this.#first + window.limit - 1;
    this.#room = window.maxCharacters;
  }

  push(bytes: Buffer): void {
    let start = 0;
    for (let feed = bytes.indexOf(LF); feed !== -1; feed = bytes.indexOf(LF, start)) {
      this.#extend(bytes, start, feed);
      this.#endLine(true);
      start = feed + 1;
    }
    this.#extend(bytes, start, bytes.length);
    // What is kept of a line that goes on must not change with the buffer it came in.
    this.#pieces = this.#pieces.map((piece) => Buffer.from(piece));
  }

  /** The end of the file: what follows the last line feed is a line unless it is empty. */
  end(): void {
    if (this.#lineBytes > 0) this.#endLine(false);
  }

  /** The end of what is looked at, inside a line: one too long to be shown whole is shown and counted, others are not. */
  cut(): void {
    if (this.#lineBytes > MAX_KEPT_LINE_BYTES) this.#endLine(false, "at least ");
  }

  #extend(bytes: Buffer, start: number, end: number): void {
    this.#lineBytes += end - start;
    if (!this.#inWindow()) return;
    const piece = bytes.subarray(start, Math.min(end, start + MAX_KEPT_LINE_BYTES - this.#keptBytes));
    this.#keptBytes += piece.length;
    if (piece.length > 0) this.#pieces.push(piece);
  }

  #inWindow(): boolean {
    return this.lineCount >= this.#first && this.lineCount <= this.#last && this.#room > 0;
  }

  #endLine(byFeed: boolean, atLeast = ""): void {
    if (this.#inWindow()) this.#keep(byFeed, atLeast);
    this.lineCount++;
    this.#lineBytes = 0;
  }

  #keep(byFeed: boolean, atLeast: string): void {
    const [first] = this.#pieces;
    let bytes = first && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    if (byFeed && bytes.length === this.#lineBytes && bytes.at(-1) === CR) {
      this.crlf = true;
      bytes = bytes.subarray(0, -1);
    }
    const line = shortenLine(bytes.toString(), `${atLeast}${this.#lineBytes}`);
    this.replaced ||= line.includes("\ufffd") && !isFaithful(line, bytes);
    this.kept.push(line);
    this.#room -= line.length;
    this.#pieces = [];
    this.#keptBytes = 0;
  }
}

/** True when the text, up to a marker that was put behind it, stands for exactly these bytes. */
function isFaithful(line: string, bytes: Buffer): boolean {
  const shown = line.slice(0, line.lastIndexOf("\ufffd") + 1);
  const encoded = Buffer.from(shown);
  return bytes.subarray(0, encoded.length).equals(encoded);
}
