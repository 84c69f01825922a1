const LF = 0x0a;
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** A line without its end, and why it cannot be used, where it cannot. */
export interface InputLine {
  readonly text: string;
  readonly problem?: string;
}

/**
 * Cuts bytes into lines. They end with LF and nothing else, so that U+2028 inside a string is data; the last one needs
 * none. Bytes that are not UTF-8 are replaced, and a line over 64 MiB comes without text: both are a problem of that line.
 */
export async function* inputLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<InputLine> {
  let open = new OpenLine();
  for await (const chunk of chunks) {
    let start = 0;
    for (let feed = chunk.indexOf(LF); feed !== -1; feed = chunk.indexOf(LF, start)) {
      open.push(chunk.subarray(start, feed));
      yield open.end();
      open = new OpenLine();
      start = feed + 1;
    }
    open.push(chunk.subarray(start));
  }
  yield open.end();
}

/** Joined once, so that a line of many chunks costs no more than its length. */
class OpenLine {
  #pieces: Uint8Array[] = [];
  #length = 0;

  push(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#length > MAX_LINE_BYTES) this.#pieces = [];
    else this.#pieces.push(bytes);
  }

  end(): InputLine {
    if (this.#length > MAX_LINE_BYTES) return { text: "", problem: "is longer than 64 MiB" };
    const bytes = Buffer.concat(this.#pieces);
    try {
      return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
    } catch {
      return { text: bytes.toString(), problem: "is not UTF-8" };
    }
  }
}
