import { isHighSurrogate } from "./shorten.ts";

/** `read_file` scans less than 8 MiB, so that a full capture can be read to its end with it (PT-057, PT-058). */
export const MAX_CAPTURE_BYTES: number = 8 * 1024 * 1024 - 1;

const FIRST_ALLOCATION_BYTES = 64 * 1024;
/** Text is encoded in pieces of about this size, whatever the size of the pushes. */
const PIECE_CHARS = 64 * 1024;
/** Room for the marker of the gap. */
const MARKER_BYTES = 64;

/**
 * All text received for one call, as UTF-8: exactly, as long as it fits the budget, else its beginning and its end with a
 * marker between them (PT-041 to PT-044).
 *
 * Memory grows with what is received up to `maxBytes`; a push of any size is encoded piece by piece. A surrogate pair
 * that was split over two pushes is joined; a surrogate without its partner becomes U+FFFD.
 */
export class OutputCapture {
  readonly #maxBytes: number;
  readonly #headBytes: number;
  /** The head in front; behind it, once it is full, a ring for what is newest. */
  #bytes: Buffer = Buffer.alloc(0);
  #receivedBytes = 0;
  #pending = "";

  constructor(maxBytes: number = MAX_CAPTURE_BYTES) {
    this.#maxBytes = maxBytes;
    this.#headBytes = Math.floor(maxBytes / 2);
  }

  push(text: string): void {
    if (this.#pending.length + text.length < PIECE_CHARS) {
      this.#pending += text;
      return;
    }
    for (let start = 0; start < text.length; start += PIECE_CHARS) {
      this.#pending += text.slice(start, start + PIECE_CHARS);
      const lastIsHalf = isHighSurrogate(this.#pending.charCodeAt(this.#pending.length - 1));
      const end = lastIsHalf ? this.#pending.length - 1 : this.#pending.length;
      this.#store(Buffer.from(this.#pending.slice(0, end), "utf8"));
      this.#pending = this.#pending.slice(end);
    }
  }

  /** Ends the capture. The parts, one behind the other, are `maxBytes` long at most; `complete` says that nothing is missing. */
  end(): { readonly parts: readonly Buffer[]; readonly complete: boolean } {
    this.#store(Buffer.from(this.#pending, "utf8"));
    this.#pending = "";
    if (this.#receivedBytes <= this.#maxBytes) {
      return { parts: [this.#bytes.subarray(0, this.#receivedBytes)], complete: true };
    }
    const head = this.#bytes.subarray(0, endOfWholeCharacters(this.#bytes, this.#headBytes));
    const tail = this.#tail();
    const missingBytes = this.#receivedBytes - head.length - tail.length;
    return { parts: [head, Buffer.from(`\n[... ${missingBytes} bytes missing here ...]\n`), tail], complete: false };
  }

  #store(bytes: Buffer): void {
    let from = 0;
    while (from < bytes.length) {
      const at = this.#indexOf(this.#receivedBytes);
      const length = Math.min(bytes.length - from, this.#maxBytes - at);
      this.#grow(at + length);
      bytes.copy(this.#bytes, at, from, from + length);
      this.#receivedBytes += length;
      from += length;
    }
  }

  /** Where the byte of this number stands: in order up to the budget, round the ring after that. */
  #indexOf(position: number): number {
    if (position < this.#maxBytes) return position;
    return this.#headBytes + ((position - this.#headBytes) % (this.#maxBytes - this.#headBytes));
  }

  #grow(neededBytes: number): void {
    if (neededBytes <= this.#bytes.length) return;
    const doubled = Math.max(neededBytes, 2 * this.#bytes.length, FIRST_ALLOCATION_BYTES);
    const grown = Buffer.allocUnsafe(Math.min(doubled, this.#maxBytes));
    this.#bytes.copy(grown);
    this.#bytes = grown;
  }

  /** The ring from its oldest byte on, without what the marker needs and without half a character in front. */
  #tail(): Buffer {
    const oldest = this.#indexOf(this.#receivedBytes);
    const ring = Buffer.concat([this.#bytes.subarray(oldest), this.#bytes.subarray(this.#headBytes, oldest)]);
    let start = MARKER_BYTES;
    while (isContinuation(ring[start])) start += 1;
    return ring.subarray(start);
  }
}

/** `end`, or where the UTF-8 sequence begins that a cut at `end` would split. */
function endOfWholeCharacters(bytes: Buffer, end: number): number {
  let lead = end - 1;
  while (isContinuation(bytes[lead])) lead -= 1;
  return lead + sequenceLength(bytes[lead] ?? 0) > end ? lead : end;
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
