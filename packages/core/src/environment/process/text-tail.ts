import { type OutputPiece, pieceText } from "../output-piece.ts";

/** Keeps the end of text that comes in pieces, in bounded memory. */
export class TextTail {
  readonly #maxBytes: number;
  #pieces: string[] = [];
  #length = 0;

  /** @param maxBytes - What `read` gives at most, in UTF-8. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(piece: OutputPiece): void {
    // Every character has at least one byte: more characters than bytes are wanted need not be kept.
    const end = typeof piece === "string" ? piece.slice(-this.#maxBytes) : pieceText(piece.subarray(-this.#maxBytes));
    if (end.length === this.#maxBytes) this.#pieces.length = this.#length = 0;
    this.#pieces.push(end);
    this.#length += end.length;
    if (this.#length > 2 * this.#maxBytes) {
      this.#pieces = [this.#pieces.join("").slice(-this.#maxBytes)];
      this.#length = this.#maxBytes;
    }
  }

  /** The last bytes of everything, followed by `more`; a character that does not fit as a whole is left out. */
  read(more = ""): string {
    const bytes = Buffer.from(this.#pieces.join("") + more);
    let start = Math.max(0, bytes.length - this.#maxBytes);
    while (isContinuation(bytes[start])) start++;
    return bytes.toString("utf8", start);
  }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
