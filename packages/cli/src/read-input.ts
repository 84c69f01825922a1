import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { RookeryError } from "@rookery/core";
import type { Io } from "./io.ts";
import { notice } from "./report-error.ts";

/**
 * Reads a file, or standard input for `-`, to its end as text.
 *
 * Bytes that are not UTF-8 are replaced, with a warning. Of an endless input no more is read than fits.
 *
 * @throws {RookeryError} `input-too-large` above 10 MiB; `usage` for a file that cannot be read.
 */
export async function readInput(source: string, io: Io): Promise<string> {
  const name = source === "-" ? "standard input" : source;
  const stream = source === "-" ? io.stdin : createReadStream(resolve(io.cwd, source));
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      const piece = Buffer.from(chunk);
      chunks.push(piece);
      bytes += piece.length;
      if (bytes > MAX_INPUT_BYTES) break;
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new RookeryError("usage", `cannot read ${name}: ${code}`, {
      hint: "name a file that you may read",
      cause: error,
    });
  }
  if (bytes > MAX_INPUT_BYTES) {
    throw new RookeryError("input-too-large", `${name} holds more than ${MAX_INPUT_BYTES / 1024 / 1024} MiB`, {
      hint: "put it into a file of the workspace and let the prompt name that",
    });
  }
  return decoded(Buffer.concat(chunks), name, io);
}

const MAX_INPUT_BYTES = 10 * 1024 * 1024;

function decoded(bytes: Buffer, name: string, io: Io): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    notice(io, `warning: ${name} is not valid UTF-8; the bytes that are not were replaced`);
    return new TextDecoder().decode(bytes);
  }
}
