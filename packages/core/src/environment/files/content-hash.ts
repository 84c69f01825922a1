import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { LineCounter } from "./line-counter.ts";
import { readChunks } from "./read-chunks.ts";

/** In lower-case hexadecimal digits. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The hash and the number of lines of a file of any size, in bounded memory. */
export async function hashFile(
  handle: FileHandle,
  signal?: AbortSignal,
): Promise<{ sha256: string; lineCount: number }> {
  const hash = createHash("sha256");
  const lines = new LineCounter();
  for await (const chunk of readChunks(handle, { signal })) {
    hash.update(chunk);
    lines.push(chunk);
  }
  return { sha256: hash.digest("hex"), lineCount: lines.count };
}
