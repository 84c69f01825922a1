/** A piece of what a process printed. */
export interface RawChunk {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Buffer;
}

/** Neighbours of one stream are joined up to about this many bytes: a few large chunks cost less than many small ones. */
const JOINED_BYTES = 16 * 1024;

/** The bytes a process printed and nobody has taken yet, in order of arrival. For one reader. */
export class OutputQueue {
  readonly #chunks: RawChunk[] = [];
  readonly #onTaken: () => void;
  #length = 0;
  #closed = false;
  #wakeReader: () => void = () => undefined;
  #waking: NodeJS.Immediate | undefined;

  /** @param onTaken - Called when `length` has become smaller. */
  constructor(onTaken: () => void) {
    this.#onTaken = onTaken;
  }

  /** Bytes waiting. */
  get length(): number {
    return this.#length;
  }

  push(chunk: RawChunk): void {
    if (this.#closed || chunk.bytes.length === 0) return;
    this.#length += chunk.bytes.length;
    this.#chunks.push(chunk);
    this.#wakeSoon();
  }

  /** Nothing more will come; what is there can still be taken. */
  close(): void {
    this.#closed = true;
    this.#wakeSoon();
  }

  /** The next bytes of one stream; `undefined` at the end. */
  async take(): Promise<RawChunk | undefined> {
    while (this.#chunks.length === 0 && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
    const first = this.#chunks[0];
    if (first === undefined) return undefined;
    let count = 0;
    let length = 0;
    for (const { stream, bytes } of this.#chunks) {
      if (stream !== first.stream || length >= JOINED_BYTES) break;
      count += 1;
      length += bytes.length;
    }
    const taken = this.#chunks.splice(0, count).map(({ bytes }) => bytes);
    this.#length -= length;
    this.#onTaken();
    return { stream: first.stream, bytes: count === 1 ? first.bytes : Buffer.concat(taken, length) };
  }

  /** Drops what is there and what still comes. */
  discard(): void {
    this.close();
    this.#chunks.length = 0;
    this.#length = 0;
    this.#onTaken();
  }

  /** When everything that lies ready in the pipes has been read. */
  #wakeSoon(): void {
    this.#waking ??= setImmediate(() => {
      this.#waking = undefined;
      this.#wakeReader();
    });
  }
}
