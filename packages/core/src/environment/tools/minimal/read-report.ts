import type { AgentToolResult } from "../../agent-tool.ts";
import { lineArgument, textArgument } from "../../files/file-arguments.ts";
import { FileProblem } from "../../files/file-problem.ts";
import { IMAGE_HEAD_BYTES, imageType } from "../../files/image-type.ts";
import { type LineWindow, readLineWindow } from "../../files/line-window.ts";
import type { OpenFile } from "../../files/open-regular-file.ts";
import { readWhole } from "../../files/read-chunks.ts";
import type { FileToolReport } from "../../files/single-output.ts";
import { judgeImage } from "../../images/judge-image.ts";

/** What a call wants to read. */
export interface ReadRequest {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number | undefined;
}

/** @throws {FileProblem} The arguments are not those of a read. */
export function readOf(args: Record<string, unknown>): ReadRequest {
  const startLine = lineArgument(args, "startLine", 1);
  const endLine = args.endLine === undefined ? undefined : lineArgument(args, "endLine", startLine);
  if (endLine !== undefined && endLine < startLine) {
    throw new FileProblem(`endLine ${endLine} comes before startLine ${startLine}; give the smaller one first`);
  }
  return { path: textArgument(args, "path"), startLine, endLine };
}

/** What reading brought. */
export interface ReadReport extends FileToolReport {
  /** What counts towards `maxTotalSize`. */
  readonly bytes: number;
  readonly sha256?: string;
}

/** Makes of an image the block that a model gets. */
export type ImageProcessor = (image: Buffer) => Block | Promise<Block>;

type Block = AgentToolResult["content"][number];

/** Reads an image whole; `undefined` for a file that is none. @throws {FileProblem} It is broken, or larger than models take. */
export async function readImage(
  file: OpenFile,
  path: string,
  imageProcessor: ImageProcessor | undefined,
  signal: AbortSignal | undefined,
): Promise<ReadReport | undefined> {
  const head = Buffer.alloc(IMAGE_HEAD_BYTES);
  const mimeType = imageType(head.subarray(0, await file.read(head, 0)));
  if (mimeType === undefined) return undefined;
  const image = await readWhole(file, signal);
  const report = { bytes: image.length, details: { path, linesRead: 0 } };
  const block = imageProcessor
    ? await imageProcessor(image)
    : { type: "image" as const, mimeType, data: sendable(image).toString("base64") };
  if (block.type === "text") return { ...report, text: block.text };
  return { ...report, text: "", images: [`data:${block.mimeType};base64,${block.data}`] };
}

function sendable(image: Buffer): Buffer {
  judgeImage(image);
  return image;
}

interface Bounds {
  readonly maxLines: number;
  readonly maxCharacters: number;
  readonly signal: AbortSignal | undefined;
}

/** Reads lines as they are, with notes on what is not shown. @throws {FileProblem} There are none, or the file is binary. */
export async function readText(file: OpenFile, request: ReadRequest, bounds: Bounds): Promise<ReadReport> {
  const { path, startLine, endLine = Number.POSITIVE_INFINITY } = request;
  const limit = Math.min(bounds.maxLines, endLine - startLine + 1);
  const window = await readLineWindow(file, { offset: startLine, limit, ...bounds });
  if (startLine > Math.max(1, window.lineCount)) throw new FileProblem(describeUnreachable(window, startLine));
  const lines = fitting(window.lines, bounds.maxCharacters);
  const lastLine = startLine + lines.length - 1;
  const reachesEnd = window.complete && lastLine >= window.lineCount;
  const notes = notesOn(window, startLine, lastLine, endLine);
  // The last line feed belongs to a file that was asked for to its end.
  const feed = reachesEnd && request.endLine === undefined && (await endsInFeed(file)) ? "\n" : "";
  const shown = lines.join("\n");
  const isWhole = reachesEnd && startLine === 1;
  return {
    text: notes.length === 0 ? shown + feed : [...(shown === "" ? [] : [shown]), ...notes].join("\n"),
    bytes: isWhole ? file.stats.size : Buffer.byteLength(shown + feed),
    details: { path, linesRead: lines.length },
    ...(window.sha256 !== undefined && { sha256: window.sha256 }),
  };
}

function describeUnreachable({ complete, lineCount }: LineWindow, startLine: number): string {
  const holds = `${lineCount} ${lineCount === 1 ? "line" : "lines"}`;
  if (complete) return `startLine ${startLine} is past the end; the file has ${holds}`;
  return `line ${startLine} is not within the first 8 MiB, which hold ${holds}; use bash, for example: tail -n +${startLine}`;
}

/** As many lines as fit, at least one. */
function fitting(lines: readonly string[], maxCharacters: number): readonly string[] {
  let room = maxCharacters;
  const fitting = lines.filter((line) => {
    room -= line.length + 1;
    return room >= 0;
  });
  return fitting.length === 0 ? lines.slice(0, 1) : fitting;
}

/** What the model has to know about the lines shown. */
function notesOn(window: LineWindow, first: number, last: number, wanted: number): string[] {
  const { lineCount, complete, encoding } = window;
  const total = complete ? String(lineCount) : `at least ${lineCount} (only the first 8 MiB were scanned)`;
  const notes: string[] = [];
  if (complete && lineCount === 0) notes.push("the file is empty");
  if (encoding !== "utf-8") notes.push(`decoded from ${encoding.toUpperCase()}`);
  if (window.byteOrderMark) notes.push("the file begins with a UTF-8 byte order mark, which is not shown");
  if (window.crlf) notes.push("lines end in CRLF; the carriage returns are not shown");
  if (window.replaced) notes.push("bytes that are not UTF-8 are shown as U+FFFD (\ufffd); edit keeps them as they are");
  if (last < Math.min(wanted, lineCount))
    notes.push(`lines ${first}-${last} of ${total}; go on with startLine: ${last + 1}`);
  else if (!complete && wanted > last) notes.push(`lines ${first}-${last} of ${total}; use bash for what follows`);
  return notes.map((note) => `[${note}]`);
}

async function endsInFeed(file: OpenFile): Promise<boolean> {
  const last = Buffer.alloc(1);
  return (await file.read(last, Math.max(0, file.stats.size - 1))) === 1 && last.toString() === "\n";
}
