import { isUtf8 } from "node:buffer";
import { FileProblem } from "./file-problem.ts";
import type { OpenFile } from "./open-regular-file.ts";
import { isUtf16 } from "./utf16.ts";

/** The longest way from an edge inside a character to its ends. */
const MARGIN_BYTES = 3;

/** A range of a file's bytes as text. */
export interface Utf8Range {
  readonly text: string;
  readonly start: number;
  /** Where it ends: the next byte is not in it. */
  readonly end: number;
  /** The length of the file. */
  readonly totalBytes: number;
}

/**
 * Reads `limit` bytes of a file from `offset` on, or as many as there are.
 *
 * @throws {FileProblem} `offset` is past the end, an edge of the range lies inside a character (the nearest edges that do
 *   not are named), or a byte is not UTF-8 (named, too).
 */
export async function readUtf8Range(file: OpenFile, offset: number, limit: number): Promise<Utf8Range> {
  const from = Math.max(0, offset - MARGIN_BYTES);
  const wanted = offset + limit + MARGIN_BYTES - from;
  const bytes = await readFully(file, from, Math.max(0, Math.min(wanted, file.stats.size - from)));
  const known = from + bytes.length;
  // A file may have become shorter since it was opened.
  const totalBytes = bytes.length < Math.min(wanted, file.stats.size - from) ? known : file.stats.size;
  if (offset > totalBytes) throw new FileProblem(`offset ${offset} is past the end; the file has ${totalBytes} bytes`);
  const end = Math.min(offset + limit, totalBytes);
  const range = bytes.subarray(offset - from, end - from);
  if (!isUtf8(range)) throw new FileProblem(describe(bytes, { from, start: offset, end }));
  return { text: range.toString("utf8"), start: offset, end, totalBytes };
}

async function readFully(file: OpenFile, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = await file.read(bytes.subarray(filled), position + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

interface Place {
  /** Of the first byte that was read. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
}

/** What is wrong: first an edge, since the bytes there are no fault of the file's. */
function describe(bytes: Buffer, { from, start, end }: Place): string {
  const edges = [
    edgeProblem("begins", start, characterAround(bytes, start - from), from),
    edgeProblem("ends", end, characterAround(bytes, end - from), from),
  ].filter((problem) => problem !== undefined);
  if (edges.length > 0) return edges.join("; ");
  const at = firstInvalid(bytes, start - from);
  const byte = `0x${bytes[at]?.toString(16).padStart(2, "0")}`;
  const looks = isUtf16(bytes) && from === 0 ? ", and the file begins as UTF-16 does" : "";
  return `byte ${from + at} (${byte}) is not UTF-8${looks}; look at the file with bash (file, iconv, xxd)`;
}

function edgeProblem(
  verb: "begins" | "ends",
  edge: number,
  character: { start: number; end: number } | undefined,
  from: number,
): string | undefined {
  if (character === undefined) return undefined;
  const [before, behind] = [from + character.start, from + character.end];
  return `the range ${verb} at byte ${edge}, inside a character; the nearest places between characters are ${before} and ${behind}`;
}

/** The character that has bytes on both sides of an edge. */
function characterAround(bytes: Buffer, edge: number): { start: number; end: number } | undefined {
  for (let start = edge - 1; start >= Math.max(0, edge - MARGIN_BYTES); start--) {
    const end = start + characterBytes(bytes, start);
    if (end > edge) return { start, end };
  }
  return undefined;
}

function firstInvalid(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const length = characterBytes(bytes, at);
    if (length === 0) break;
    at += length;
  }
  return at;
}

/** How many bytes the character takes that begins here; 0 for none. */
function characterBytes(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0;
  const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const character = bytes.subarray(at, at + length);
  return character.length === length && isUtf8(character) ? length : 0;
}
