import { StringDecoder } from "node:string_decoder";
import type { OutputQueue, RawChunk } from "./output-queue.ts";
import { isPlainAscii } from "./plain-bytes.ts";
import { VaultRedactor } from "./redact-vault.ts";

/** A piece of what a process printed, as text without vault values. */
export interface ProcessChunk {
  readonly stream: RawChunk["stream"];
  /** Never empty; a character is never split. */
  readonly text: string;
  /** It is known to be printable ASCII, newlines and tabs. */
  readonly plain?: boolean;
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
      const { text, plain } = chunk ? decoder.push(chunk.bytes) : decoder.end();
      if (text !== "") return { done: false, value: { stream, text, plain } };
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

type Text = Required<Pick<ProcessChunk, "text" | "plain">>;

/** Decodes one stream, whose characters may be split over chunks. Most output is plain, and goes the short way. */
class StreamDecoder {
  readonly #utf8 = new StringDecoder("utf8");
  readonly #redactor: VaultRedactor;
  #nothingPending = true;

  constructor(vault: Readonly<Record<string, string>> | undefined) {
    this.#redactor = new VaultRedactor(vault);
  }

  push(bytes: Buffer): Text {
    const allPlain = isPlainAscii(bytes);
    const plain = allPlain && this.#nothingPending;
    this.#nothingPending = allPlain;
    const text = plain ? bytes.toString("latin1") : this.#utf8.write(bytes);
    return { text: this.#redactor.push(text), plain: plain && this.#redactor.idle };
  }

  end(): Text {
    return { text: this.#redactor.push(this.#utf8.end()) + this.#redactor.end(), plain: false };
  }
}
