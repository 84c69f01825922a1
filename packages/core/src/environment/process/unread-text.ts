import type { OutputPiece } from "../output-piece.ts";
import { isLowSurrogate } from "../shorten.ts";

/** What is kept of text that nobody has read, in characters. */
const MAX_UNREAD_CHARS = 1024 * 1024;
/** Smaller pieces are joined, so that there are few of them. */
const MIN_PIECE_CHARS = 4 * 1024;

/**
 * Text that waits to be read: its last 1 Mi characters. Of more, the oldest is dropped, and a line at the beginning of
 * what is read says how much (PT-045).
 */
export class UnreadText {
  #pieces: OutputPiece[] = [];
  #maxChars = MAX_UNREAD_CHARS;
  #length = 0;
  #dropped = 0;

  /** Characters waiting. */
  get length(): number {
    return this.#length;
  }

  /** Keeps no more than so many characters from now on. */
  limit(maxChars: number): void {
    this.#maxChars = maxChars;
    this.push("");
  }

  push(piece: OutputPiece): void {
    const last = this.#pieces.at(-1);
    if (typeof piece === "string" && typeof last === "string" && last.length < MIN_PIECE_CHARS)
      this.#pieces[this.#pieces.length - 1] = last + piece;
    else if (piece.length > 0) this.#pieces.push(piece);
    this.#length += piece.length;
    while (this.#length - (this.#pieces[0]?.length ?? 0) >= this.#maxChars)
      this.#drop(this.#pieces.shift()?.length ?? 0);
  }

  /** Pieces, none of them empty. */
  take(): OutputPiece[] {
    this.#dropExcess();
    const marker = this.#dropped > 0 ? [`[..., ${this.#dropped} chars of earlier output dropped ...]\n`] : [];
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#length = this.#dropped = 0;
    return [...marker, ...pieces];
  }

  /** Of the oldest piece what is too much. */
  #dropExcess(): void {
    const [oldest = ""] = this.#pieces;
    const excess = this.#length - this.#maxChars;
    if (excess <= 0) return;
    const isSplit = typeof oldest === "string" && isLowSurrogate(oldest.charCodeAt(excess));
    const start = isSplit ? excess + 1 : excess;
    this.#drop(start);
    this.#pieces[0] = typeof oldest === "string" ? oldest.slice(start) : oldest.subarray(start);
  }

  #drop(chars: number): void {
    this.#length -= chars;
    this.#dropped += chars;
  }
}
