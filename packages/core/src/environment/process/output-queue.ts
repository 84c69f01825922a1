/** A piece of what a process printed. */
export interface ProcessChunk {
  readonly stream: "stdout" | "stderr";
  /** Never empty; a character is never split. */
  readonly text: string;
}

/** Neighbours of one stream are joined up to about this length, in characters. */
const JOINED_LENGTH = 64 * 1024;

/**
 * What a process printed and nobody has read yet, in order of arrival. For one reader, who asks for one chunk at a time;
 * leaving the loop discards what is there and what still comes.
 */
export class OutputQueue implements AsyncIterableIterator<ProcessChunk> {
  readonly #chunks: ProcessChunk[] = [];
  readonly #onTaken: () => void;
  #length = 0;
  #closed = false;
  #wakeReader: () => void = () => undefined;

  /** @param onTaken - Called when `length` has become smaller. */
  constructor(onTaken: () => void) {
    this.#onTaken = onTaken;
  }

  /** Characters waiting. */
  get length(): number {
    return this.#length;
  }

  push(chunk: ProcessChunk): void {
    if (this.#closed || chunk.text === "") return;
    this.#length += chunk.text.length;
    const last = this.#chunks.at(-1);
    if (last?.stream === chunk.stream && last.text.length < JOINED_LENGTH) {
      this.#chunks[this.#chunks.length - 1] = { stream: last.stream, text: last.text + chunk.text };
    } else {
      this.#chunks.push(chunk);
    }
    this.#wakeReader();
  }

  /** Nothing more will come; what is there can still be read. */
  close(): void {
    this.#closed = true;
    this.#wakeReader();
  }

  async next(): Promise<IteratorResult<ProcessChunk, undefined>> {
    while (this.#chunks.length === 0 && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
    const value = this.#chunks.shift();
    if (value === undefined) return { done: true, value };
    this.#length -= value.text.length;
    this.#onTaken();
    return { done: false, value };
  }

  async return(): Promise<IteratorResult<ProcessChunk, undefined>> {
    this.close();
    this.#chunks.length = 0;
    this.#length = 0;
    this.#onTaken();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
