import { createHash } from "node:crypto";
import { LineCounter } from "./line-counter.ts";
import type { OpenFile } from "./open-regular-file.ts";
import { readChunks } from "./read-chunks.ts";

/** In lower-case hexadecimal digits. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const MAX_HASHED_BYTES = 64 * 1024 * 1024;

/** True for a file so long that hashing it would keep everyone waiting. */
export function isHuge({ stats }: OpenFile): boolean {
  return stats.size > MAX_HASHED_BYTES;
}

/**
 * What tells one content of a file from another: its sha256; of a file over 64 MiB its size and the time it was changed.
 *
 * @throws {FileProblem} `signal` fired.
 */
export async function fingerprintOf(file: OpenFile, signal?: AbortSignal): Promise<string> {
  const { size, mtimeMs } = file.stats;
  const hash = createHash("sha256");
  let length = isHuge(file) ? size : 0;
  // Some files of /proc have no size and no end.
  if (length === 0) {
    for await (const chunk of readChunks(file, { signal })) {
      length += chunk.length;
      if (length > MAX_HASHED_BYTES) break;
      hash.update(chunk);
    }
  }
  return length > MAX_HASHED_BYTES ? `${size} bytes, modified ${mtimeMs}` : hash.digest("hex");
}

/** The hash and the number of lines of a file of any size, in bounded memory. */
export async function hashFile(file: OpenFile, signal?: AbortSignal): Promise<{ sha256: string; lineCount: number }> {
  const hash = createHash("sha256");
  const lines = new LineCounter();
  for await (const chunk of readChunks(file, { signal })) {
    hash.update(chunk);
    lines.push(chunk);
  }
  return { sha256: hash.digest("hex"), lineCount: lines.count };
}
