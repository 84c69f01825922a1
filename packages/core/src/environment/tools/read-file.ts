import { fingerprintOf } from "../files/content-hash.ts";
import { lineArgument, textArgument } from "../files/file-arguments.ts";
import { FileGuard } from "../files/file-guard.ts";
import { FileProblem } from "../files/file-problem.ts";
import { type LineWindow, readLineWindow } from "../files/line-window.ts";
import { locateFile, spellTarget } from "../files/locate-file.ts";
import { type OpenFile, openRegularFile } from "../files/open-regular-file.ts";
import { readRisk } from "../files/read-risk.ts";
import { type FileToolReport, outputRoom, singleOutput } from "../files/single-output.ts";
import { modelVisiblePath } from "../model-visible-path.ts";
import type { BuiltinToolModule } from "../tool.ts";

const DEFAULT_LIMIT = 2000;

/** Shows lines of a text file with their numbers. */
export const readFile: BuiltinToolModule = {
  definition: {
    name: "read_file",
    description:
      "Read a text file. Each line comes as its number, a tab and the text; the number and the tab are not part of the file. Shows at most 2000 lines at a time and says where to go on. For directories, binary files and files over 8 MiB use the shell.",
    parameters: {
      type: "object",
      properties: {
        file_path: { type: "string", description: "Absolute, or relative to the workspace." },
        offset: { type: "integer", description: "First line to show, counted from 1. Default 1." },
        limit: { type: "integer", description: "Number of lines to show. Default 2000." },
      },
      required: ["file_path"],
    },
    permission: "r",
    timeoutMs: 30_000,
    maxOutputLength: 64_000,
  },
  create(definition, config) {
    const files = config.services?.files ?? new FileGuard();
    const maxCharacters = outputRoom(definition);
    return {
      name: definition.name,
      definition,
      risk: "read_only",
      assessRisk: (args, context) => readRisk(textArgument(args, "file_path"), context),
      async approvalSummary(args, context) {
        const { offset, limit } = windowOf(args);
        const path = await spellTarget(textArgument(args, "file_path"), context);
        return `read ${path}, lines ${offset} to ${offset + limit - 1}`;
      },
      paths: (args) => ({ read: [textArgument(args, "file_path")] }),
      execute(args, context) {
        const { toolCallId, signal } = context;
        return singleOutput({ toolCallId, verb: "read", path: args.file_path }, async () => {
          const path = textArgument(args, "file_path");
          const request = { ...windowOf(args), maxCharacters, signal };
          const realPath = await locateFile(path, { ...context, protectedPaths: config.protectedPaths });
          const file = await openRegularFile(realPath);
          try {
            const window = await readSeen(file, request, (seen) => files.remember(realPath, seen));
            return report(window, { ...request, path: modelVisiblePath(path), realPath });
          } finally {
            file.close();
          }
        });
      },
    };
  },
};

/** A file that is shown in part or, being binary, not at all is remembered too: whoever asked for it may replace it. */
async function readSeen(
  file: OpenFile,
  request: Parameters<typeof readLineWindow>[1],
  remember: (fingerprint: string) => void,
): Promise<LineWindow> {
  try {
    const window = await readLineWindow(file, request);
    remember(window.sha256 ?? (await fingerprintOf(file, request.signal)));
    return window;
  } catch (error) {
    await fingerprintOf(file, request.signal).then(remember, () => undefined);
    throw error;
  }
}

function windowOf(args: Record<string, unknown>): { offset: number; limit: number } {
  return { offset: lineArgument(args, "offset", 1), limit: lineArgument(args, "limit", DEFAULT_LIMIT) };
}

interface ReadRequest {
  readonly offset: number;
  readonly maxCharacters: number;
  readonly path: string;
  readonly realPath: string;
}

function report(window: LineWindow, request: ReadRequest): FileToolReport {
  const { path, offset } = request;
  const identity = { path: request.realPath, ...(window.sha256 !== undefined && { sha256: window.sha256 }) };
  if (window.complete && window.lineCount === 0) return { text: `[${path} is empty (0 bytes)]`, details: identity };
  if (offset > window.lineCount) throw new FileProblem(describeUnreachable(window, request));
  const { text, lastLine } = fitLines(window, request);
  return { text, details: { ...identity, lines: { first: offset, last: lastLine } } };
}

function describeUnreachable(window: LineWindow, { offset, path }: ReadRequest): string {
  if (window.complete) {
    return `offset ${offset} is past the end; the file has ${window.lineCount} ${window.lineCount === 1 ? "line" : "lines"}`;
  }
  return (
    `line ${offset} is not within the first 8 MiB, which hold ${window.lineCount} lines; ` +
    `use the shell, for example: tail -n +${offset} ${shellQuote(path)} | head -c 20000`
  );
}

function shellQuote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** As many lines as fit the output together with the notes; of a first line that does not fit, its beginning. */
function fitLines(window: LineWindow, { offset, maxCharacters }: ReadRequest): { text: string; lastLine: number } {
  const numbered = window.lines.map((line, i) => `${String(offset + i).padStart(6)}\t${line}`);
  let lastLine = offset;
  let body = 0;
  for (const [i, line] of numbered.entries()) {
    body += line.length + 1;
    if (body + notesAfter(window, offset, offset + i).length > maxCharacters && i > 0) break;
    lastLine = offset + i;
  }
  const notes = notesAfter(window, offset, lastLine);
  const lines = numbered.slice(0, lastLine - offset + 1).join("\n");
  const room = maxCharacters - notes.length - 1;
  return { text: [cutTo(lines, room), notes].filter((part) => part !== "").join("\n"), lastLine };
}

function cutTo(lines: string, room: number): string {
  if (lines.length <= room) return lines;
  const marker = "… [line truncated]";
  // A surrogate that lost its second half goes too.
  return lines.slice(0, Math.max(0, room - marker.length)).replace(/[\ud800-\udbff]$/, "") + marker;
}

/** What the model has to know about the lines shown, `first` to `last`. */
function notesAfter(window: LineWindow, first: number, last: number): string {
  const notes: string[] = [];
  if (window.encoding !== "utf-8") notes.push(`decoded from ${window.encoding.toUpperCase()}`);
  if (window.byteOrderMark) notes.push("the file begins with a UTF-8 byte order mark, which is not shown");
  if (window.crlf) notes.push("lines end in CRLF; the carriage returns are not shown");
  if (window.replaced)
    notes.push("bytes that are not UTF-8 are shown as U+FFFD (\ufffd); edit_file keeps them as they are");
  if (last < window.lineCount) notes.push(`lines ${first}-${last} of ${total(window)}; go on with offset: ${last + 1}`);
  else if (!window.complete) notes.push(`lines ${first}-${last} of ${total(window)}; use the shell for what follows`);
  return notes.map((note) => `[${note}]`).join("\n");
}

function total(window: LineWindow): string {
  return window.complete
    ? String(window.lineCount)
    : `at least ${window.lineCount} (only the first 8 MiB were scanned)`;
}
