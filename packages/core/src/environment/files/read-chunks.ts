import { FileProblem } from "./file-problem.ts";
import type { OpenFile } from "./open-regular-file.ts";

const CHUNK_BYTES = 256 * 1024;

/** The most that is held of one file. */
export const MAX_WHOLE_BYTES: number = 64 * 1024 * 1024;

/**
 * Reads a file from its start, at most 256 KiB at a time.
 *
 * All chunks share one buffer: a chunk is valid until the next one is asked for.
 *
 * @param options.maxBytes - Where to stop; default the end of the file.
 * @throws {FileProblem} `options.signal` fired.
 */
export async function* readChunks(
  file: OpenFile,
  options: { maxBytes?: number; signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Buffer> {
  const maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
  const { size } = file.stats;
  // With room for one byte more, a first read that ends where the file did has met its end. In /proc all sizes are zero.
  const buffer = Buffer.allocUnsafe(size === 0 ? CHUNK_BYTES : Math.min(CHUNK_BYTES, Math.max(size + 1, 4096)));
  for (let position = 0; position < maxBytes; ) {
    if (options.signal?.aborted) throw new FileProblem("interrupted while the file was read");
    const wanted = buffer.subarray(0, Math.min(buffer.length, maxBytes - position));
    const readBytes = await file.read(wanted, position);
    if (readBytes === 0) return;
    position += readBytes;
    yield wanted.subarray(0, readBytes);
    if (position === size && readBytes < wanted.length) return;
  }
}

/**
 * The content of a file that is to be held whole.
 *
 * @throws {FileProblem} it is longer than 64 MiB, whatever the system says of its size, or `signal` fired.
 */
export async function readWhole(file: OpenFile, signal?: AbortSignal): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of readChunks(file, { signal })) {
    length += chunk.length;
    if (length > MAX_WHOLE_BYTES) throw new FileProblem("it holds more than 64 MiB; work on it with the shell");
    parts.push(Buffer.from(chunk));
  }
  return Buffer.concat(parts);
}
