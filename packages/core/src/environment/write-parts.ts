import type { FileHandle } from "node:fs/promises";

/** Writes parts one behind the other: all at once, since each write is a way through the thread pool, and without joining them. */
export async function writeParts(
  file: Pick<FileHandle, "writev" | "writeFile">,
  parts: readonly Buffer[],
): Promise<void> {
  const { bytesWritten } = await file.writev(parts);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  // Not all is written where there is no room: what is left is, or says why not.
  if (bytesWritten < length) await file.writeFile(Buffer.concat(parts).subarray(bytesWritten));
}
