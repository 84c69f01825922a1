import { type OutputPiece, ownCopy, piecesText } from "./output-piece.ts";

/** Shorter texts are joined, so that there are few pieces. */
const MIN_TEXT_CHARS = 4 * 1024;

/**
 * The end of output that comes in pieces: as few of the last pieces as hold `maxChars` characters, as they came. No more than
 * twice that and one piece is kept; a push costs nothing that grows with what is.
 */
export class PieceTail {
  #maxChars: number;
  #pieces: OutputPiece[] = [];
  #length = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** Characters kept. */
  get length(): number {
    return this.#length;
  }

  /** The pieces, none of them empty. */
  get pieces(): readonly OutputPiece[] {
    return this.#pieces;
  }

  get text(): string {
    return piecesText(this.#pieces);
  }

  /** Keeps no more than so many characters from now on. @returns How many were dropped. */
  limit(maxChars: number): number {
    this.#maxChars = maxChars;
    return this.#drop();
  }

  /** @returns How many characters were dropped. */
  push(piece: OutputPiece): number {
    if (piece.length > 2 * this.#maxChars) return this.#replaceBy(piece);
    const last = this.#pieces.at(-1);
    if (typeof piece === "string" && typeof last === "string" && last.length < MIN_TEXT_CHARS)
      this.#pieces[this.#pieces.length - 1] = last + piece;
    else if (piece.length > 0) this.#pieces.push(piece);
    this.#length += piece.length;
    return this.#drop();
  }

  /** Keeps nothing of what came so far. */
  clear(): void {
    this.#pieces = [];
    this.#length = 0;
  }

  /** By the end of a long piece, and a character more, so that a pair of surrogates is seen whole. */
  #replaceBy(piece: OutputPiece): number {
    const before = this.#length;
    const end = endOf(piece, this.#maxChars + 1);
    this.#pieces = [end];
    this.#length = end.length;
    return before + piece.length - end.length;
  }

  #drop(): number {
    let dropped = 0;
    for (;;) {
      const [oldest] = this.#pieces;
      if (oldest === undefined || this.#length - oldest.length < this.#maxChars) return dropped;
      this.#pieces.shift();
      this.#length -= oldest.length;
      dropped += oldest.length;
    }
  }
}

function endOf(piece: OutputPiece, chars: number): OutputPiece {
  return typeof piece === "string" ? ownCopy(piece.slice(-chars)) : piece.subarray(-chars);
}
