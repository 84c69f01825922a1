import type { OutputPiece } from "../output-piece.ts";
import { PieceTail } from "../piece-tail.ts";
import { isLowSurrogate } from "../shorten.ts";

/** What is kept of text that nobody has read, in characters. */
const MAX_UNREAD_CHARS = 1024 * 1024;

/**
 * Text that waits to be read: its last 1 Mi characters. Of more, the oldest is dropped, and a line at the beginning of
 * what is read says how much (PT-045).
 */
export class UnreadText {
  readonly #kept = new PieceTail(MAX_UNREAD_CHARS);
  #maxChars = MAX_UNREAD_CHARS;
  #dropped = 0;

  /** Characters waiting. */
  get length(): number {
    return this.#kept.length;
  }

  /** Keeps no more than so many characters from now on. */
  limit(maxChars: number): void {
    this.#maxChars = maxChars;
    this.#dropped += this.#kept.limit(maxChars);
  }

  push(piece: OutputPiece): void {
    this.#dropped += this.#kept.push(piece);
  }

  /** Pieces, none of them empty. */
  take(): OutputPiece[] {
    const pieces = [...this.#kept.pieces];
    const [oldest = "", ...later] = pieces;
    const excess = this.#kept.length - this.#maxChars;
    this.#kept.clear();
    if (excess <= 0 && this.#dropped === 0) return pieces;
    const end = typeof oldest === "string" ? endFrom(oldest, excess) : oldest.subarray(Math.max(0, excess));
    const dropped = this.#dropped + oldest.length - end.length;
    this.#dropped = 0;
    return [`[..., ${dropped} chars of earlier output dropped ...]\n`, ...(end.length > 0 ? [end] : []), ...later];
  }
}

function endFrom(text: string, start: number): string {
  if (start <= 0) return text;
  return text.slice(isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start);
}
