import { createHash } from "node:crypto";
import { TextDecoder } from "node:util";
import { FileProblem } from "./file-problem.ts";
import { LineCollector } from "./line-collector.ts";
import type { OpenFile } from "./open-regular-file.ts";
import { readChunks } from "./read-chunks.ts";
import { unmarkedUtf16 } from "./utf16.ts";

/** The byte order mark of UTF-8. */
export const UTF8_MARK: Buffer = Buffer.from([0xef, 0xbb, 0xbf]);

/** How much of a file is looked at (PT-058). */
const SCAN_CAP_BYTES = 8 * 1024 * 1024;

/** Some lines of a file, ready to show. */
export interface LineWindow {
  /** In order, without line endings, each cut to what may be shown. */
  readonly lines: readonly string[];
  /** How many whole lines were scanned, and the one that the cap cut if it is too long to be shown whole anyway. */
  readonly lineCount: number;
  /** False when the scan ended at its cap and more follows. */
  readonly complete: boolean;
  /** Of the whole file; absent unless `complete`. */
  readonly sha256?: string;
  readonly encoding: "utf-8" | "utf-16le" | "utf-16be";
  /** The file begins with a UTF-8 byte order mark. */
  readonly byteOrderMark: boolean;
  /** Some line of the window ended in CRLF. */
  readonly crlf: boolean;
  /** Some byte of the window was not UTF-8 and became U+FFFD. */
  readonly replaced: boolean;
}

/**
 * Reads lines `offset` (from 1) to `offset + limit - 1` of a file in one pass and bounded memory.
 *
 * The pass goes on to the end of the file or the cap, for the number of lines and the hash; a line that the cap cuts
 * counts only if no more of it would be shown than was scanned. UTF-16 is recognised by its byte order mark.
 *
 * @param window.maxCharacters - Lines after this many characters are not kept.
 * @throws {FileProblem} a NUL character was found, or `window.signal` fired.
 */
export async function readLineWindow(
  file: OpenFile,
  window: { offset: number; limit: number; maxCharacters: number; signal?: AbortSignal | undefined },
): Promise<LineWindow> {
  const hash = createHash("sha256");
  const lines = new LineCollector(window);
  let encoding: LineWindow["encoding"] = "utf-8";
  let byteOrderMark = false;
  let decoder: TextDecoder | undefined;
  let scannedBytes = 0;
  for await (const chunk of readChunks(file, { maxBytes: SCAN_CAP_BYTES, signal: window.signal })) {
    hash.update(chunk);
    if (scannedBytes === 0) {
      encoding = encodingOf(chunk);
      byteOrderMark = chunk.subarray(0, 3).equals(UTF8_MARK);
      if (encoding !== "utf-8") decoder = new TextDecoder(encoding);
    }
    const text = decoder ? Buffer.from(decoder.decode(chunk, { stream: true })) : chunk;
    if (text.includes(0)) throw new FileProblem(describeBinary(scannedBytes === 0 ? text : undefined));
    lines.push(scannedBytes === 0 && byteOrderMark ? text.subarray(UTF8_MARK.length) : text);
    scannedBytes += chunk.length;
  }
  const complete = scannedBytes < SCAN_CAP_BYTES || (await endsAt(file, SCAN_CAP_BYTES));
  if (complete && decoder) lines.push(Buffer.from(decoder.decode()));
  if (complete) lines.end();
  else lines.cut();
  return {
    lines: lines.kept,
    lineCount: lines.lineCount,
    complete,
    ...(complete && { sha256: hash.digest("hex") }),
    encoding,
    byteOrderMark,
    crlf: lines.crlf,
    replaced: lines.replaced,
  };
}

const BINARY =
  "it is a binary file (it holds a NUL byte); look into it with the shell (file, xxd, strings), or show it with an image tool if it is an image";

/** @param start - The beginning of the file, if the NUL byte is there. */
function describeBinary(start: Buffer | undefined): string {
  const encoding = start && unmarkedUtf16(start);
  if (encoding === undefined) return BINARY;
  return `it is binary, and looks like ${encoding} without a byte order mark; use the shell (iconv -f ${encoding} -t UTF-8)`;
}

/** The encoding that a byte order mark declares; a UTF-32 mark is none of ours and leads to the NUL check. */
function encodingOf(start: Buffer): LineWindow["encoding"] {
  if (start[0] === 0xff && start[1] === 0xfe && !(start[2] === 0 && start[3] === 0)) return "utf-16le";
  return start[0] === 0xfe && start[1] === 0xff ? "utf-16be" : "utf-8";
}

async function endsAt(file: OpenFile, position: number): Promise<boolean> {
  return (await file.read(Buffer.alloc(1), position)) === 0;
}
