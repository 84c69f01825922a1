import type { FileHandle } from "node:fs/promises";

/**
 * Writes parts one behind the other: all at once, since each write is a way through the thread pool, and without a copy that joins
 * them. What a write leaves over, on a disk that becomes full, is written next, so that it fails with the reason.
 */
export async function writeParts(file: Pick<FileHandle, "writev">, parts: readonly Buffer[]): Promise<void> {
  for (let rest = parts; rest.length > 0; ) {
    const { bytesWritten } = await file.writev(rest);
    rest = behind(rest, bytesWritten);
  }
}

/** What follows the first bytes of parts. */
function behind(parts: readonly Buffer[], bytes: number): readonly Buffer[] {
  let end = 0;
  const index = parts.findIndex((part) => {
    end += part.length;
    return end > bytes;
  });
  const part = parts[index];
  return part === undefined ? [] : [part.subarray(part.length - (end - bytes)), ...parts.slice(index + 1)];
}
