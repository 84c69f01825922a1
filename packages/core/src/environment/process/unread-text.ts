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
  readonly #pieces: string[] = [];
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

  push(text: string): void {
    const last = this.#pieces.at(-1);
    if (last !== undefined && last.length < MIN_PIECE_CHARS) this.#pieces[this.#pieces.length - 1] = last + text;
    else if (text !== "") this.#pieces.push(text);
    this.#length += text.length;
    while (this.#length - (this.#pieces[0]?.length ?? 0) >= this.#maxChars)
      this.#drop(this.#pieces.shift()?.length ?? 0);
  }

  take(): string {
    const text = this.#pieces.join("");
    const excess = Math.max(0, text.length - this.#maxChars);
    const start = excess > 0 && isLowSurrogate(text.charCodeAt(excess)) ? excess + 1 : excess;
    this.#drop(start);
    const marker = this.#dropped > 0 ? `[..., ${this.#dropped} chars of earlier output dropped ...]\n` : "";
    this.#pieces.length = this.#length = this.#dropped = 0;
    return marker + text.slice(start);
  }

  #drop(chars: number): void {
    this.#length -= chars;
    this.#dropped += chars;
  }
}
