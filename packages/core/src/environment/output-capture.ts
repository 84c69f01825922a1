import type { OutputPiece } from "./output-piece.ts";
import { cutBefore, isContinuationByte, isHighSurrogate } from "./shorten.ts";

/** `read_file` scans less than 8 MiB, so that a full capture can be read to its end with it (PT-057, PT-058). */
export const MAX_CAPTURE_BYTES: number = 8 * 1024 * 1024 - 1;

/** Text is gathered to so many characters before it is encoded. */
const BLOCK_CHARS = 32 * 1024;
/** Room for the marker of the gap. */
const MARKER_BYTES = 64;

/**
 * All text received for one call, as UTF-8: exactly, as long as it fits the budget, else its beginning and its end with a
 * marker between them (PT-041 to PT-044).
 *
 * Bytes are kept as they come, text is encoded: as strings, it would be copied again and again by the garbage collector. A
 * surrogate pair that was split over two pushes is joined; a surrogate without its partner becomes U+FFFD.
 */
export class OutputCapture {
  readonly #maxBytes: number;
  /** Of the beginning, and what the end has at least. */
  readonly #halfBytes: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  readonly #tail: Buffer[] = [];
  #tailBytes = 0;
  #receivedBytes = 0;
  #text = "";

  constructor(maxBytes: number = MAX_CAPTURE_BYTES) {
    this.#maxBytes = maxBytes;
    this.#halfBytes = Math.ceil(maxBytes / 2);
  }

  push(piece: OutputPiece): void {
    if (typeof piece === "string") this.#pushText(piece);
    else {
      this.#encode(this.#text.length);
      // A small part of a long buffer would keep all of it in memory.
      this.#keep(2 * piece.length < piece.buffer.byteLength ? Buffer.from(piece) : piece);
    }
  }

  /** Ends the capture. The parts, one behind the other, are `maxBytes` long at most; `complete` says that nothing is missing. */
  end(): { readonly parts: readonly Buffer[]; readonly complete: boolean } {
    this.#encode(this.#text.length);
    if (this.#receivedBytes <= this.#maxBytes) return { parts: [...this.#head, ...this.#tail], complete: true };
    const end = lastBytes(this.#tail, this.#maxBytes - this.#headBytes - MARKER_BYTES);
    const missingBytes = this.#receivedBytes - this.#headBytes - lengthOf(end);
    const marker = Buffer.from(`\n[... ${missingBytes} bytes missing here ...]\n`);
    return { parts: [...this.#head, marker, ...end], complete: false };
  }

  #pushText(text: string): void {
    this.#text += text;
    if (this.#text.length < BLOCK_CHARS) return;
    // Half of a surrogate pair waits for the other half.
    const { length } = this.#text;
    this.#encode(isHighSurrogate(this.#text.charCodeAt(length - 1)) ? length - 1 : length);
  }

  /** Encodes so many characters of the text that waits. */
  #encode(chars: number): void {
    const text = this.#text;
    this.#text = text.slice(chars);
    for (let from = 0; from < chars; ) {
      const to = cutBefore(text, Math.min(from + BLOCK_CHARS, chars));
      this.#keep(Buffer.from(text.slice(from, to)));
      from = to;
    }
  }

  #keep(bytes: Buffer): void {
    this.#receivedBytes += bytes.length;
    const room = this.#tail.length > 0 ? 0 : this.#halfBytes - this.#headBytes;
    const head = bytes.subarray(0, startOfCharacter(bytes, room));
    if (head.length > 0) this.#head.push(head);
    this.#headBytes += head.length;
    if (head.length === bytes.length) return;
    this.#tail.push(bytes.subarray(head.length));
    this.#tailBytes += bytes.length - head.length;
    for (;;) {
      const length = this.#tail[0]?.length ?? 0;
      if (this.#tailBytes - length < this.#halfBytes) return;
      this.#tail.shift();
      this.#tailBytes -= length;
    }
  }
}

/** The end of what parts hold together, beginning with a whole character. */
function lastBytes(parts: readonly Buffer[], maxBytes: number): Buffer[] {
  const kept = [...parts];
  let excess = Math.max(0, lengthOf(kept) - maxBytes);
  for (let first = kept[0]; first !== undefined && excess >= first.length; first = kept[0]) {
    excess -= first.length;
    kept.shift();
  }
  const [first = Buffer.alloc(0), ...rest] = kept;
  let start = excess;
  while (isContinuationByte(first[start])) start += 1;
  return [first.subarray(start), ...rest];
}

function lengthOf(parts: readonly Buffer[]): number {
  return parts.reduce((length, part) => length + part.length, 0);
}

/** `index`, or where the character begins that a cut there would split; the length where that is less. */
function startOfCharacter(bytes: Buffer, index: number): number {
  let start = Math.min(index, bytes.length);
  while (start > 0 && isContinuationByte(bytes[start])) start -= 1;
  return start;
}
