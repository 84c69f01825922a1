/** A piece of what a process printed. */
export interface RawChunk {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Buffer;
}

/** What was taken together: of one stream, in order. */
export interface RawChunks {
  readonly stream: RawChunk["stream"];
  readonly pieces: readonly Buffer[];
}

/** Neighbours are joined up to about this many bytes: a few large pieces cost less than many small ones. */
const JOINED_BYTES = 16 * 1024;
/** About so much is taken at once; what a command may be ahead of its reader and this are less than `UnreadText` keeps. */
const TAKEN_BYTES = 512 * 1024;

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
    if (this.#chunks.length === 0) this.#wakeReader();
    else this.#wakeSoon();
  }

  /** The next bytes of one stream, as many as are there; `undefined` at the end. */
  async take(): Promise<RawChunks | undefined> {
    while (this.#chunks.length === 0 && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
    const [first] = this.#chunks;
    if (first === undefined) return undefined;
    let count = 0;
    let length = 0;
    for (const { stream, bytes } of this.#chunks) {
      if (stream !== first.stream || length >= TAKEN_BYTES) break;
      count += 1;
      length += bytes.length;
    }
    const pieces = joinSmall(this.#chunks.splice(0, count).map(({ bytes }) => bytes));
    this.#length -= length;
    this.#onTaken();
    return { stream: first.stream, pieces };
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

function joinSmall(pieces: readonly Buffer[]): Buffer[] {
  const joined: Buffer[] = [];
  let group: Buffer[] = [];
  let length = 0;
  for (const piece of pieces) {
    group.push(piece);
    length += piece.length;
    if (length < JOINED_BYTES) continue;
    joined.push(join(group));
    group = [];
    length = 0;
  }
  return group.length === 0 ? joined : [...joined, join(group)];
}

function join(group: readonly Buffer[]): Buffer {
  const [first] = group;
  return first && group.length === 1 ? first : Buffer.concat(group);
}
