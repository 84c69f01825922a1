import type { OutputPiece } from "./output-piece.ts";
import { isHighSurrogate } from "./shorten.ts";

/** `read_file` scans less than 8 MiB, so that a full capture can be read to its end with it (PT-057, PT-058). */
export const MAX_CAPTURE_BYTES: number = 8 * 1024 * 1024 - 1;

/** Shorter pieces are gathered before they are encoded. */
const MIN_PIECE_CHARS = 4 * 1024;
const FIRST_ALLOCATION_BYTES = 64 * 1024;
/** Room for the marker of the gap. */
const MARKER_BYTES = 64;

const encoder = new TextEncoder();

/**
 * All text received for one call, as UTF-8: exactly, as long as it fits the budget, else its beginning and its end with a
 * marker between them (PT-041 to PT-044).
 *
 * Text is encoded as it comes, into three blocks of half the budget at most: one for the beginning, and two that take
 * turns for the end. Kept as strings, it would be copied again and again by the garbage collector. A surrogate pair that
 * was split over two pushes is joined; a surrogate without its partner becomes U+FFFD.
 */
export class OutputCapture {
  readonly #maxBytes: number;
  readonly #blockBytes: number;
  /** Full blocks: the beginning, then at most one of the end. */
  readonly #full: Buffer[] = [];
  #block: Buffer = Buffer.alloc(0);
  #usedBytes = 0;
  #receivedBytes = 0;
  #hasGap = false;
  #pending = "";

  constructor(maxBytes: number = MAX_CAPTURE_BYTES) {
    this.#maxBytes = maxBytes;
    this.#blockBytes = Math.ceil(maxBytes / 2);
  }

  push(piece: OutputPiece): void {
    if (typeof piece === "string") this.#pushText(piece);
    else {
      this.#encode(this.#pending);
      this.#pending = "";
      this.#copy(piece);
    }
  }

  #pushText(text: string): void {
    if (this.#pending.length + text.length < MIN_PIECE_CHARS) {
      this.#pending += text;
      return;
    }
    // Half of a surrogate pair waits for the other half.
    const { length } = this.#pending;
    const waiting = isHighSurrogate(this.#pending.charCodeAt(length - 1)) ? length - 1 : length;
    const next = this.#pending.slice(waiting) + text;
    const end = isHighSurrogate(next.charCodeAt(next.length - 1)) ? next.length - 1 : next.length;
    this.#encode(this.#pending.slice(0, waiting));
    this.#encode(next.slice(0, end));
    this.#pending = next.slice(end);
  }

  /** Ends the capture. The parts, one behind the other, are `maxBytes` long at most; `complete` says that nothing is missing. */
  end(): { readonly parts: readonly Buffer[]; readonly complete: boolean } {
    this.#encode(this.#pending);
    this.#pending = "";
    const [head = Buffer.alloc(0), ...rest] = [...this.#full, this.#block.subarray(0, this.#usedBytes)];
    if (!this.#hasGap && this.#receivedBytes <= this.#maxBytes) return { parts: [head, ...rest], complete: true };
    const tail = Buffer.concat(rest);
    const tailBytes = Math.min(tail.length, this.#maxBytes - head.length - MARKER_BYTES);
    const end = tail.subarray(startOfWholeCharacter(tail, tail.length - tailBytes));
    const missingBytes = this.#receivedBytes - head.length - end.length;
    return { parts: [head, Buffer.from(`\n[... ${missingBytes} bytes missing here ...]\n`), end], complete: false };
  }

  #encode(text: string): void {
    let rest = text;
    while (rest !== "") {
      const { read, written } = encoder.encodeInto(rest, this.#block.subarray(this.#usedBytes));
      this.#usedBytes += written;
      this.#receivedBytes += written;
      if (read === rest.length) return;
      rest = rest.slice(read);
      this.#makeRoom();
    }
  }

  #copy(bytes: Buffer): void {
    let copied = 0;
    while (copied < bytes.length) {
      const written = bytes.copy(this.#block, this.#usedBytes, copied);
      this.#usedBytes += written;
      copied += written;
      if (copied < bytes.length) this.#makeRoom();
    }
    this.#receivedBytes += copied;
  }

  /** The first block grows to its size; a full one is followed by another, in place of the oldest but the first. */
  #makeRoom(): void {
    if (this.#full.length === 0 && this.#block.length < this.#blockBytes) {
      const grown = Math.max(2 * this.#block.length, FIRST_ALLOCATION_BYTES);
      const block = Buffer.allocUnsafeSlow(Math.min(grown, this.#blockBytes));
      this.#block.copy(block, 0, 0, this.#usedBytes);
      this.#block = block;
      return;
    }
    const oldest = this.#full.length > 1 ? this.#full.pop() : undefined;
    this.#hasGap ||= oldest !== undefined;
    this.#full.push(this.#block.subarray(0, this.#usedBytes));
    // Memory that was used before costs the system nothing.
    this.#block = oldest
      ? Buffer.from(oldest.buffer, oldest.byteOffset, this.#blockBytes)
      : Buffer.allocUnsafeSlow(this.#blockBytes);
    this.#usedBytes = 0;
  }
}

/** `start`, or where the next UTF-8 sequence begins when it falls inside one. */
function startOfWholeCharacter(bytes: Buffer, start: number): number {
  let first = start;
  while (((bytes[first] ?? 0) & 0xc0) === 0x80) first += 1;
  return first;
}
