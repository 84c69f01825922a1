/**
 * Standard output as a command writes it: what is written in one turn of the event loop leaves in one piece, a slow
 * reader is waited for, and a reader that goes away does not throw.
 */
export class OutputStream {
  readonly #stream: NodeJS.WritableStream;
  readonly #broken = new AbortController();
  #pending: string[] = [];
  #pendingLength = 0;
  #isFull = false;

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
    stream.on("error", (error) => this.#broken.abort(error));
  }

  /** Fires, with the system's error as its reason, when nothing can be written any more. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  /** @returns A promise only when the writer should wait before it goes on. */
  write(text: string): Promise<void> | undefined {
    if (this.#pending.length === 0) setImmediate(() => this.#send());
    this.#pending.push(text);
    this.#pendingLength += text.length;
    return this.#isFull || this.#pendingLength > MAX_PENDING_CHARACTERS ? this.flush() : undefined;
  }

  /** Resolves when everything has been taken over by the system, or cannot be. */
  async flush(): Promise<void> {
    this.#send();
    if (this.#broken.signal.aborted) return;
    await new Promise<void>((resolve) => this.#stream.write("", () => resolve()));
    this.#isFull = false;
  }

  #send(): void {
    const text = this.#pending.join("");
    this.#pending = [];
    this.#pendingLength = 0;
    if (text !== "" && !this.#broken.signal.aborted) this.#isFull = !this.#stream.write(text);
  }
}

const MAX_PENDING_CHARACTERS = 65_536;
