import { isHighSurrogate, isLowSurrogate } from "./shorten.ts";

/** `read_file` scans less than 8 MiB, so that a full capture can be read to its end with it (PT-057, PT-058). */
export const MAX_CAPTURE_BYTES: number = 8 * 1024 * 1024 - 1;

/** Text is kept in pieces of this size at most, so that what is no longer wanted can be let go. */
const MAX_PIECE_CHARS = 64 * 1024;
/** Pieces of a longer push are copied: a slice keeps the whole string it was cut from in memory. */
const MAX_SHARED_CHARS = 1024 * 1024;
/** Room for the marker of the gap. */
const MARKER_BYTES = 64;

interface Piece {
  readonly text: string;
  readonly bytes: number;
}

/**
 * All text received for one call, as UTF-8: exactly, as long as it fits the budget, else its beginning and its end with a
 * marker between them (PT-041 to PT-044).
 *
 * Memory grows with what is received up to about `maxBytes`, and nothing is encoded before the end. A surrogate pair that
 * was split over two pushes is joined; a surrogate without its partner becomes U+FFFD.
 */
export class OutputCapture {
  readonly #maxBytes: number;
  readonly #pieceChars: number;
  readonly #head: Piece[] = [];
  #tail: Piece[] = [];
  #headBytes = 0;
  #tailBytes = 0;
  #receivedBytes = 0;
  /** Received, and not yet long enough for a piece. */
  #pending = "";

  constructor(maxBytes: number = MAX_CAPTURE_BYTES) {
    this.#maxBytes = maxBytes;
    this.#pieceChars = Math.min(MAX_PIECE_CHARS, Math.max(1, maxBytes >> 3));
  }

  push(text: string): void {
    const { length } = this.#pending;
    if (length + text.length < this.#pieceChars / 16) {
      this.#pending += text;
      return;
    }
    // Half of a surrogate pair waits for the other half.
    const waiting = isHighSurrogate(this.#pending.charCodeAt(length - 1)) ? length - 1 : length;
    const next = this.#pending.slice(waiting) + text;
    const end = isHighSurrogate(next.charCodeAt(next.length - 1)) ? next.length - 1 : next.length;
    this.#store(this.#pending.slice(0, waiting));
    for (let from = 0; from < end; ) {
      const to = endOfPiece(next, Math.min(from + this.#pieceChars, end));
      this.#store(next.length > MAX_SHARED_CHARS ? copy(next.slice(from, to)) : next.slice(from, to));
      from = to;
    }
    this.#pending = next.slice(end);
  }

  /** Ends the capture. The parts, one behind the other, are `maxBytes` long at most; `complete` says that nothing is missing. */
  end(): { readonly parts: readonly Buffer[]; readonly complete: boolean } {
    this.#store(this.#pending);
    this.#pending = "";
    const tail = encode(this.#tail);
    const head = encode(this.#head);
    if (this.#receivedBytes <= this.#maxBytes) return { parts: [head, tail], complete: true };
    const tailBytes = Math.min(tail.length, this.#maxBytes - Math.floor(this.#maxBytes / 2) - MARKER_BYTES);
    const end = tail.subarray(startOfWholeCharacter(tail, tail.length - tailBytes));
    const headBytes = Math.min(head.length, this.#maxBytes - MARKER_BYTES - end.length);
    const beginning = head.subarray(0, endOfWholeCharacters(head, headBytes));
    const missingBytes = this.#receivedBytes - beginning.length - end.length;
    return {
      parts: [beginning, Buffer.from(`\n[... ${missingBytes} bytes missing here ...]\n`), end],
      complete: false,
    };
  }

  #store(text: string): void {
    const piece = { text, bytes: Buffer.byteLength(text) };
    this.#receivedBytes += piece.bytes;
    if (this.#headBytes < this.#maxBytes / 2) {
      this.#head.push(piece);
      this.#headBytes += piece.bytes;
      return;
    }
    this.#tail.push(piece);
    this.#tailBytes += piece.bytes;
    // Some more than the window is kept before anything is dropped, so that dropping costs little.
    const isGap = this.#receivedBytes > this.#maxBytes;
    if (isGap && this.#tailBytes > (this.#maxBytes / 8) * 5) this.#dropOldest();
  }

  #dropOldest(): void {
    let dropped = 0;
    for (const { bytes } of this.#tail) {
      if (this.#tailBytes - bytes < this.#maxBytes / 2) break;
      this.#tailBytes -= bytes;
      dropped += 1;
    }
    this.#tail = this.#tail.slice(dropped);
  }
}

/** Where a piece may end that would end at `end`: never inside a surrogate pair. */
function endOfPiece(text: string, end: number): number {
  const splitsPair = isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end));
  return splitsPair ? end + 1 : end;
}

function encode(pieces: readonly Piece[]): Buffer {
  return Buffer.from(pieces.map(({ text }) => text).join(""), "utf8");
}

function copy(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

/** `start`, or where the next UTF-8 sequence begins when it falls inside one. */
function startOfWholeCharacter(bytes: Buffer, start: number): number {
  let first = start;
  while (isContinuation(bytes[first])) first += 1;
  return first;
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
