import type { FileHandle } from "node:fs/promises";
import { FileProblem } from "./file-problem.ts";

const CHUNK_BYTES = 256 * 1024;

/**
 * Reads a file from its start, 256 KiB at a time.
 *
 * All chunks share one buffer: a chunk is valid until the next one is asked for.
 *
 * @param options.maxBytes - Where to stop; default the end of the file.
 * @throws {FileProblem} `options.signal` fired.
 */
export async function* readChunks(
  handle: FileHandle,
  options: { maxBytes?: number; signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Buffer> {
  const maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; position < maxBytes; ) {
    if (options.signal?.aborted) throw new FileProblem("interrupted while the file was read");
    const { bytesRead } = await handle.read(buffer, 0, Math.min(CHUNK_BYTES, maxBytes - position), position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
