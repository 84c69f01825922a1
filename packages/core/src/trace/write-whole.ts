import { writeSync } from "node:fs";

/**
 * Writes all bytes with one `write(2)`, and with further ones only where the system took a part.
 *
 * @throws What the system reports; an error of its own when the system takes nothing and reports nothing.
 */
export function writeWhole(fd: number, bytes: Uint8Array, write: Write = writeSync): void {
  let written = 0;
  while (written < bytes.length) {
    const progress = write(fd, bytes, written);
    if (progress === 0) throw new Error(`the system stopped writing after ${written} of ${bytes.length} bytes`);
    written += progress;
  }
}

type Write = (fd: number, bytes: Uint8Array, offset: number) => number;
