import { resolve } from "node:path";
import { toAgentTool } from "../../adapt-builtin-tool.ts";
import type { AgentTool, AgentToolResult } from "../../agent-tool.ts";
import type { EnvironmentConfig, ToolDefinitionConfig } from "../../contract.ts";
import { fingerprintOf } from "../../files/content-hash.ts";
import { lineArgument, textArgument } from "../../files/file-arguments.ts";
import { FileProblem } from "../../files/file-problem.ts";
import { IMAGE_HEAD_BYTES, imageType } from "../../files/image-type.ts";
import { type LineWindow, readLineWindow } from "../../files/line-window.ts";
import { assessedPath, locateFile, spellTarget } from "../../files/locate-file.ts";
import { type OpenFile, openRegularFile } from "../../files/open-regular-file.ts";
import { readWhole } from "../../files/read-chunks.ts";
import { isSecretLikePath } from "../../files/secret-paths.ts";
import { type FileToolReport, outputRoom, singleOutput } from "../../files/single-output.ts";
import type { BuiltinTool, BuiltinToolModule } from "../../tool.ts";
import { checkLimits } from "./check-limits.ts";

export interface ReadToolOptions {
  /** What relative paths start from; default, at each call: the process's own directory. */
  readonly cwd?: string;
  /** The largest file, in bytes; a larger one is refused. Default: none, and of a text its first 8 MiB are looked at. */
  readonly maxSize?: number;
  /** The most lines of one call; default 2000. */
  readonly maxLines?: number;
  /** The most bytes over all calls of this tool object; a call that would go beyond is refused. Default: none. */
  readonly maxTotalSize?: number;
  /** Makes of an image file the block that is the result; default: the image itself. */
  readonly imageProcessor?: (
    image: Buffer,
  ) => AgentToolResult["content"][number] | Promise<AgentToolResult["content"][number]>;
}

export interface ReadDetails {
  /** As it was given. */
  readonly path: string;
  /** 0 for an image. */
  readonly linesRead: number;
}

const DEFAULT_MAX_LINES = 2000;
/** Of the output, kept free for notes. */
const NOTES_CHARS = 500;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "Absolute, or relative to the working directory." },
    startLine: { type: "integer", description: "First line to show, counted from 1. Default 1." },
    endLine: { type: "integer", description: "Last line to show, itself included. Default the last of the file." },
  },
  required: ["path"],
} as const;

const definition: ToolDefinitionConfig = {
  name: "read",
  description:
    "Read a text file or an image. Text comes as it is, at most 2000 lines at a time, with a note that says where to go on. For directories and other binary files use bash.",
  parameters,
  permission: "r",
  timeoutMs: 30_000,
  maxOutputLength: 64_000,
};

/** Shows lines of a text file, or an image (PI-030 to PI-033). */
export const read: BuiltinToolModule = {
  definition,
  create: (given, config) => readTool(given, config, {}, outputRoom(given) - NOTES_CHARS),
};

/**
 * The read tool for use anywhere; a file that cannot be read is a result with `isError`.
 *
 * @throws {RangeError} A limit is not above 0.
 */
export function createReadTool(options: ReadToolOptions = {}): AgentTool<typeof parameters, ReadDetails> {
  const { cwd, imageProcessor: _, ...limits } = options;
  checkLimits(limits);
  const tool = readTool(definition, {}, options, Number.POSITIVE_INFINITY);
  return toAgentTool(tool, { label: "Read", parameters, cwd });
}

type Place = Pick<EnvironmentConfig, "services" | "protectedPaths">;

function readTool(
  definition: ToolDefinitionConfig,
  { services, protectedPaths }: Place,
  options: ReadToolOptions,
  maxCharacters: number,
): BuiltinTool {
  const budget = new Budget(options.maxTotalSize);
  return {
    name: definition.name,
    definition,
    risk: "read_only",
    async assessRisk(args, context) {
      const path = textArgument(args, "path");
      const spellings = [resolve(context.workspaceDir, path), await assessedPath(path, context)];
      return spellings.some(isSecretLikePath) ? "filesystem" : "read_only";
    },
    async approvalSummary(args, context) {
      const { path, startLine, endLine } = readOf(args);
      const lines = endLine === undefined ? `from line ${startLine}` : `lines ${startLine} to ${endLine}`;
      return `read ${await spellTarget(path, context)}, ${lines}`;
    },
    paths: (args) => ({ read: [textArgument(args, "path")] }),
    execute(args, context) {
      return singleOutput({ toolCallId: context.toolCallId, verb: "read", path: args.path }, async () => {
        const request = readOf(args);
        const realPath = await locateFile(request.path, { ...context, protectedPaths });
        const file = await openRegularFile(realPath);
        try {
          checkSize(file, options.maxSize);
          const image = await readImage(file, request, options, context.signal);
          const report = image ?? (await readText(file, request, options, { maxCharacters, signal: context.signal }));
          budget.take(report.bytes);
          const sha256 = services?.files && (report.sha256 ?? (await fingerprintOf(file, context.signal)));
          if (sha256 !== undefined) services?.files?.remember(realPath, sha256);
          return { ...report, details: { ...report.details, ...(sha256 !== undefined && { sha256 }) } };
        } finally {
          file.close();
        }
      });
    },
  };
}

interface ReadRequest {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number | undefined;
}

function readOf(args: Record<string, unknown>): ReadRequest {
  const startLine = lineArgument(args, "startLine", 1);
  const endLine = args.endLine === undefined ? undefined : lineArgument(args, "endLine", startLine);
  if (endLine !== undefined && endLine < startLine) {
    throw new FileProblem(`endLine ${endLine} comes before startLine ${startLine}; give the smaller one first`);
  }
  return { path: textArgument(args, "path"), startLine, endLine };
}

/** Counts what a tool object has given out. */
class Budget {
  #spentBytes = 0;
  readonly #maxBytes: number;

  constructor(maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
  }

  take(bytes: number): void {
    const total = this.#spentBytes + bytes;
    if (total > this.#maxBytes) {
      throw new FileProblem(
        `with it, ${total} bytes would have been read, over the limit of ${this.#maxBytes} for all files together; read fewer lines`,
      );
    }
    this.#spentBytes = total;
  }
}

function checkSize({ stats }: OpenFile, maxSize = Number.POSITIVE_INFINITY): void {
  if (stats.size <= maxSize) return;
  throw new FileProblem(`it has ${stats.size} bytes, over the limit of ${maxSize}; look at a part of it with bash`);
}

interface ReadReport extends FileToolReport {
  readonly details: Readonly<Record<string, unknown>> & ReadDetails;
  /** What counts towards `maxTotalSize`. */
  readonly bytes: number;
  readonly sha256?: string;
}

/** `undefined` for a file that is no image. */
async function readImage(
  file: OpenFile,
  { path }: ReadRequest,
  { imageProcessor }: ReadToolOptions,
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
  if (image.length <= MAX_IMAGE_BYTES) return image;
  throw new FileProblem(
    `the image has ${image.length} bytes, over 5 MiB, which no model takes; make it smaller with bash`,
  );
}

async function readText(
  file: OpenFile,
  request: ReadRequest,
  { maxLines = DEFAULT_MAX_LINES }: ReadToolOptions,
  bounds: { readonly maxCharacters: number; readonly signal: AbortSignal | undefined },
): Promise<ReadReport> {
  const { path, startLine, endLine = Number.POSITIVE_INFINITY } = request;
  const limit = Math.min(maxLines, endLine - startLine + 1);
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
