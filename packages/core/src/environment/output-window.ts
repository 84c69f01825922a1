import { type OutputPiece, pieceText } from "./output-piece.ts";
import { PieceTail } from "./piece-tail.ts";
import { cutBefore, isHighSurrogate, isLowSurrogate } from "./shorten.ts";

/**
 * What a reader sees of output that may be too long, while it arrives (PT-032).
 *
 * `head` keeps the first `maxChars` and streams all of it. `head_tail` streams a quarter, holds the rest back, and shows
 * the last three quarters at the end. Text that fits is unchanged in both. Characters are UTF-16 code units; a cut never
 * splits a code point, and a surrogate without its partner becomes U+FFFD. Memory is bounded by `maxChars` and one piece.
 */
export class OutputWindow {
  readonly #maxChars: number;
  readonly #headChars: number;
  readonly #keepsTail: boolean;
  #receivedChars = 0;
  #shownChars = 0;
  #headIsOpen = true;
  /** The first half of a pair whose second half may come with the next push. */
  #heldBack = "";
  #tail = new PieceTail(0);
  #tailChars = 0;

  constructor(maxChars: number, truncation: "head" | "head_tail") {
    this.#maxChars = maxChars;
    this.#keepsTail = truncation === "head_tail";
    this.#headChars = this.#keepsTail ? Math.floor(maxChars / 4) : maxChars;
  }

  /** Everything that was pushed, shown or not. */
  get receivedChars(): number {
    return this.#receivedChars;
  }

  /** Takes text and returns what is final now and can be shown; often nothing. */
  push(piece: OutputPiece): string {
    this.#receivedChars += piece.length;
    if (!this.#headIsOpen) {
      if (this.#tailChars > 0) this.#tail.push(piece);
      return "";
    }
    const text = pieceText(piece);
    const pending = this.#heldBack + text;
    const room = this.#headChars - this.#shownChars;
    if (pending.length > room) return this.#closeHead(pending, cutBefore(pending, room));
    const end = isHighSurrogate(pending.charCodeAt(pending.length - 1)) ? pending.length - 1 : pending.length;
    this.#heldBack = pending.slice(end);
    return this.#show(pending.slice(0, end));
  }

  /** The last text to show, and how many characters are missing before it; 0 when nothing was cut. */
  end(): { readonly text: string; readonly omittedChars: number } {
    const kept = this.#heldBack + this.#tail.text;
    if (this.#receivedChars <= this.#maxChars) return { text: wellFormed(kept), omittedChars: 0 };
    const start = kept.length - this.#tailChars;
    const tail = kept.slice(isLowSurrogate(kept.charCodeAt(start)) ? start + 1 : start);
    return { text: wellFormed(tail), omittedChars: this.#receivedChars - this.#shownChars - tail.length };
  }

  #closeHead(pending: string, end: number): string {
    this.#headIsOpen = false;
    this.#heldBack = "";
    const head = this.#show(pending.slice(0, end));
    this.#tailChars = this.#keepsTail ? this.#maxChars - this.#shownChars : 0;
    this.#tail = new PieceTail(this.#tailChars);
    if (this.#tailChars > 0) this.#tail.push(pending.slice(end));
    return head;
  }

  #show(text: string): string {
    this.#shownChars += text.length;
    return wellFormed(text);
  }
}

function wellFormed(text: string): string {
  return /[\ud800-\udfff]/.test(text) ? text.replace(/\p{Surrogate}/gu, "\ufffd") : text;
}
