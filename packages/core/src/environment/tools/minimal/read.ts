import { toAgentTool } from "../../adapt-builtin-tool.ts";
import type { AgentTool } from "../../agent-tool.ts";
import type { EnvironmentConfig, ToolDefinitionConfig } from "../../contract.ts";
import { fingerprintOf } from "../../files/content-hash.ts";
import { textArgument } from "../../files/file-arguments.ts";
import { FileProblem } from "../../files/file-problem.ts";
import { locateFile, spellTarget } from "../../files/locate-file.ts";
import { type OpenFile, openRegularFile } from "../../files/open-regular-file.ts";
import { readRisk } from "../../files/read-risk.ts";
import { outputRoom, singleOutput } from "../../files/single-output.ts";
import type { BuiltinTool, BuiltinToolModule } from "../../tool.ts";
import { checkLimits } from "./check-limits.ts";
import { type ImageProcessor, readImage, readOf, readText } from "./read-report.ts";

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
  readonly imageProcessor?: ImageProcessor;
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
    assessRisk: (args, context) => readRisk(textArgument(args, "path"), context),
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
          const { maxLines = DEFAULT_MAX_LINES, imageProcessor } = options;
          const image = await readImage(file, request.path, imageProcessor, context.signal);
          const bounds = { maxLines, maxCharacters, signal: context.signal };
          const report = image ?? (await readText(file, request, bounds));
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
