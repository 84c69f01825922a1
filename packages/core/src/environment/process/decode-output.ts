import { StringDecoder } from "node:string_decoder";
import { type OutputPiece, pieceText } from "../output-piece.ts";
import type { OutputQueue, RawChunk } from "./output-queue.ts";
import { isPlainAscii } from "./plain-bytes.ts";
import { VaultRedactor } from "./redact-vault.ts";

/** A piece of what a process printed, as text without vault values. */
export interface ProcessChunk {
  readonly stream: RawChunk["stream"];
  /** Never empty; a character is never split. */
  readonly text: string;
  /** The same as bytes, where it is known to be printable ASCII, newlines and tabs. */
  readonly bytes?: Buffer;
}

/**
 * Decodes what a process printed, for one reader, who asks for one chunk at a time; leaving the loop discards what is
 * there and what still comes.
 */
export class DecodedOutput implements AsyncIterableIterator<ProcessChunk> {
  readonly #queue: OutputQueue;
  readonly #decoders: Readonly<Record<RawChunk["stream"], StreamDecoder>>;
  readonly #rest: RawChunk["stream"][] = ["stdout", "stderr"];

  constructor(queue: OutputQueue, vault: Readonly<Record<string, string>> | undefined) {
    this.#queue = queue;
    this.#decoders = { stdout: new StreamDecoder(vault), stderr: new StreamDecoder(vault) };
  }

  async next(): Promise<IteratorResult<ProcessChunk, undefined>> {
    for (;;) {
      const chunk = await this.#queue.take();
      const stream = chunk?.stream ?? this.#rest.shift();
      if (stream === undefined) return { done: true, value: undefined };
      const decoder = this.#decoders[stream];
      const piece = chunk ? decoder.push(chunk.bytes) : decoder.end();
      if (piece.length > 0) return { done: false, value: processChunk(stream, piece) };
    }
  }

  async return(): Promise<IteratorResult<ProcessChunk, undefined>> {
    this.#queue.discard();
    this.#rest.length = 0;
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

function processChunk(stream: ProcessChunk["stream"], piece: OutputPiece): ProcessChunk {
  if (typeof piece === "string") return { stream, text: piece };
  return {
    stream,
    get text() {
      return pieceText(piece);
    },
    bytes: piece,
  };
}

/** Decodes one stream, whose characters may be split over chunks. Most output is plain, and goes the short way. */
class StreamDecoder {
  readonly #utf8 = new StringDecoder("utf8");
  readonly #redactor: VaultRedactor;
  #nothingPending = true;

  constructor(vault: Readonly<Record<string, string>> | undefined) {
    this.#redactor = new VaultRedactor(vault);
  }

  push(bytes: Buffer): OutputPiece {
    const isPlain = isPlainAscii(bytes);
    const passes = isPlain && this.#nothingPending && this.#redactor.idle;
    this.#nothingPending = isPlain;
    return passes ? bytes : this.#redactor.push(this.#utf8.write(bytes));
  }

  end(): string {
    return this.#redactor.push(this.#utf8.end()) + this.#redactor.end();
  }
}
