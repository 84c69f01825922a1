import { StringDecoder } from "node:string_decoder";
import { piecesText } from "../output-piece.ts";
import type { OutputQueue, RawChunk } from "./output-queue.ts";
import { isPlainAscii } from "./plain-bytes.ts";
import { VaultRedactor } from "./redact-vault.ts";

/** A piece of what a process printed, as text without vault values. */
export interface ProcessChunk {
  readonly stream: RawChunk["stream"];
  /** Never empty; a character is never split. */
  readonly text: string;
  /** The same as bytes, where it is known to be printable ASCII, newlines and tabs; none of them empty. */
  readonly plain?: readonly Buffer[];
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
      const taken = await this.#queue.take();
      const stream = taken?.stream ?? this.#rest.shift();
      if (stream === undefined) return { done: true, value: undefined };
      const decoder = this.#decoders[stream];
      if (taken && decoder.passes(taken.pieces)) return { done: false, value: plainChunk(stream, taken.pieces) };
      const text = taken ? taken.pieces.map((bytes) => decoder.push(bytes)).join("") : decoder.end();
      if (text !== "") return { done: false, value: { stream, text } };
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

function plainChunk(stream: ProcessChunk["stream"], plain: readonly Buffer[]): ProcessChunk {
  return {
    stream,
    get text() {
      return piecesText(plain);
    },
    plain,
  };
}

/** Decodes one stream, whose characters may be split over chunks. Most output is plain, and needs none of it. */
class StreamDecoder {
  #utf8: StringDecoder | undefined;
  readonly #redactor: VaultRedactor;
  /** No character has begun that is not whole. */
  #isWhole = true;

  constructor(vault: Readonly<Record<string, string>> | undefined) {
    this.#redactor = new VaultRedactor(vault);
  }

  /** Whether these bytes are text as they are; the others are to be pushed. */
  passes(pieces: readonly Buffer[]): boolean {
    return this.#isWhole && this.#redactor.idle && pieces.every(isPlainAscii);
  }

  push(bytes: Buffer): string {
    this.#isWhole = isPlainAscii(bytes);
    this.#utf8 ??= new StringDecoder("utf8");
    return this.#redactor.push(this.#utf8.write(bytes));
  }

  end(): string {
    return this.#redactor.push(this.#utf8?.end() ?? "") + this.#redactor.end();
  }
}
