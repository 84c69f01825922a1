import type { OutputPiece } from "../output-piece.ts";
import { PieceTail } from "../piece-tail.ts";
import { isContinuationByte } from "../shorten.ts";

/** Keeps the end of text that comes in pieces, in bounded memory. */
export class TextTail {
  readonly #maxBytes: number;
  readonly #kept: PieceTail;

  /** @param maxBytes - What `read` gives at most, in UTF-8. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    // Every character has at least one byte: more characters than bytes are wanted need not be kept.
    this.#kept = new PieceTail(maxBytes);
  }

  push(piece: OutputPiece): void {
    this.#kept.push(piece);
  }

  /** The last bytes of everything, followed by `more`; a character that does not fit as a whole is left out. */
  read(more = ""): string {
    const bytes = Buffer.from(this.#kept.text + more);
    let start = Math.max(0, bytes.length - this.#maxBytes);
    while (isContinuationByte(bytes[start])) start++;
    return bytes.toString("utf8", start);
  }
}
