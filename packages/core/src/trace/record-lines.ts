import type { LineProblem } from "../omnimessage/json-lines.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { isOnRecord } from "../omnimessage/on-record.ts";
import { isOmniMessage, messageProblems } from "../omnimessage/validate.ts";

/** A record and the line it was read from, byte for byte and without its end. */
export interface RecordLine {
  /** 1 for the first; blank lines count. */
  readonly line: number;
  readonly text: string;
  readonly message: OmniMessage;
}

/** More than any record has: images are limited before they are recorded. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * Reads the lines of a trace for who copies them: strictly, in memory of the size of the longest line, which is limited.
 *
 * Blank lines are left out. Whatever else is no record is a problem of its line: what is not UTF-8, not JSON, no message,
 * streamed only, or longer than 64 MiB. What `chunks` throws passes through.
 */
export async function* readRecordLines(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number = MAX_LINE_BYTES,
): AsyncGenerator<RecordLine | LineProblem> {
  for await (const { line, bytes, isEnded } of splitLines(chunks, maxLineBytes)) {
    if (bytes === undefined) {
      yield { line, problem: `is longer than ${maxLineBytes} bytes`, torn: false };
      continue;
    }
    const read = parsed(bytes);
    if (read === undefined) continue;
    yield "problem" in read ? { line, ...read, torn: read.torn && !isEnded } : { line, ...read };
  }
}

function parsed(
  bytes: Buffer,
): { text: string; message: OmniMessage } | { problem: string; torn: boolean } | undefined {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { problem: "is not UTF-8", torn: true };
  }
  if (!/\S/.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {
      problem: `is not JSON: ${JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text)}`,
      torn: true,
    };
  }
  if (!isOmniMessage(value)) return { problem: `is not a message: ${messageProblems(value).join("; ")}`, torn: false };
  if (!isOnRecord(value)) return { problem: "is a message that is streamed and never recorded", torn: false };
  return { text, message: value };
}

/** @returns Without `bytes` a line that is too long. */
async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<{ readonly line: number; readonly bytes: Buffer | undefined; readonly isEnded: boolean }> {
  let line = 1;
  let pieces: Uint8Array[] = [];
  let length = 0;
  const add = (piece: Uint8Array): void => {
    length += piece.length;
    if (length > maxBytes) pieces = [];
    else pieces.push(piece);
  };
  const taken = (): Buffer | undefined => (length > maxBytes ? undefined : Buffer.concat(pieces));
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      add(chunk.subarray(start, end));
      yield { line, bytes: taken(), isEnded: true };
      line += 1;
      pieces = [];
      length = 0;
      start = end + 1;
    }
    if (start < chunk.length) add(chunk.subarray(start));
  }
  if (length > 0) yield { line, bytes: taken(), isEnded: false };
}

const LF = 0x0a;
