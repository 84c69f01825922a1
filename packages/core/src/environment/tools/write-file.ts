import { stat } from "node:fs/promises";
import { previewLines } from "../files/approval-preview.ts";
import { fingerprintOf, hashFile, isHuge, sha256 } from "../files/content-hash.ts";
import { optionalTextArgument, textArgument } from "../files/file-arguments.ts";
import { FileGuard } from "../files/file-guard.ts";
import { FileProblem } from "../files/file-problem.ts";
import { countLines } from "../files/line-counter.ts";
import { assessedPath, locateFile, spellTarget } from "../files/locate-file.ts";
import { openIfPresent } from "../files/open-regular-file.ts";
import { changeCounts, overwriteDiff } from "../files/overwrite-diff.ts";
import { readWhole } from "../files/read-chunks.ts";
import { checkSeen, seenState } from "../files/seen-state.ts";
import { type FileToolReport, outputRoom, singleOutput } from "../files/single-output.ts";
import { checkExpected } from "../files/stale-check.ts";
import { diffPath } from "../files/unified-diff.ts";
import { writeWithParents } from "../files/write-with-parents.ts";
import { modelVisiblePath } from "../model-visible-path.ts";
import type { BuiltinToolModule, ToolExecutionContext } from "../tool.ts";

const MAX_COMPARED_BYTES = 1024 * 1024;

/** Creates a file or replaces its whole content. */
export const writeFile: BuiltinToolModule = {
  definition: {
    name: "write_file",
    description:
      "Create a file or replace its whole content; missing parent directories are created. To change a part of a file use edit_file. A file that changed since it was last read in this session is not overwritten.",
    parameters: {
      type: "object",
      properties: {
        file_path: { type: "string", description: "Absolute, or relative to the workspace." },
        content: { type: "string", description: "The whole content, written as given; may be empty." },
        expected_sha256: {
          type: "string",
          description: "Refuse the write unless the file's present content has this SHA-256.",
        },
      },
      required: ["file_path", "content"],
    },
    permission: "rw",
    timeoutMs: 30_000,
    maxOutputLength: 16_000,
  },
  create(definition, config) {
    const files = config.services?.files ?? new FileGuard();
    return {
      name: definition.name,
      definition,
      risk: "filesystem",
      async approvalSummary(args, context) {
        const { path, content } = writeOf(args);
        const present = await presentBytes(await assessedPath(path, context));
        const what = present === undefined ? "create" : "overwrite";
        const was = present === undefined ? "" : `, now ${count(present, "byte")}`;
        const head = `${what} ${await spellTarget(path, context)} with ${sizeOf(content)}${was}`;
        return content.length === 0 ? head : `${head}\n${previewLines("+", content.toString())}`;
      },
      paths: (args) => ({ write: [textArgument(args, "file_path")] }),
      assessState: (args, context) => seenState(args, "file_path", context),
      execute(args, context) {
        return singleOutput({ toolCallId: context.toolCallId, verb: "write", path: args.file_path }, async () => {
          const write = writeOf(args);
          const realPath = await locateFile(write.path, { ...context, protectedPaths: config.protectedPaths });
          return await files.exclusively(realPath, () =>
            applyWrite(write, { realPath, files, maxCharacters: outputRoom(definition), context }),
          );
        });
      },
    };
  },
};

interface Write {
  readonly path: string;
  readonly content: Buffer;
  readonly expectedSha256: string | undefined;
}

function writeOf(args: Record<string, unknown>): Write {
  const path = textArgument(args, "file_path");
  const content = Buffer.from(textArgument(args, "content"));
  if (/\/\.{0,2}$/.test(path)) {
    throw new FileProblem("the path names a directory; name a file, and its parent directories are created");
  }
  return { path, content, expectedSha256: optionalTextArgument(args, "expected_sha256") };
}

interface WritePlace {
  readonly realPath: string;
  readonly files: FileGuard;
  readonly maxCharacters: number;
  readonly context: ToolExecutionContext;
}

async function applyWrite(write: Write, place: WritePlace): Promise<FileToolReport> {
  const { realPath, files, context } = place;
  if (context.signal?.aborted) throw new FileProblem("interrupted; nothing was written");
  const present = await readPresent(realPath, write.expectedSha256 !== undefined, context.signal);
  const now = sha256(write.content);
  checkExpected(write.expectedSha256, present?.sha256);
  const details = { path: realPath, sha256: now };
  const shown = modelVisiblePath(write.path);
  if (present?.sha256 === now) {
    files.remember(realPath, now);
    return { text: `${shown} is unchanged: it has this content already (${sizeOf(write.content)})`, details };
  }
  checkSeen(context.state, files.lastSeen(realPath), present?.fingerprint ?? null);
  if (context.signal?.aborted) throw new FileProblem("interrupted; nothing was written");
  const written = await writeWithParents(realPath, write.content);
  files.remember(realPath, now);

  const head = `${present ? "Overwrote" : "Created"} ${shown} (${sizeOf(write.content)})`;
  if (!present) return { text: head, details };
  const diff = present.content
    ? await overwriteDiff(present.content, write.content, {
        path: diffPath(context.workspaceDir, write.path),
        maxCharacters: place.maxCharacters - head.length - 1,
      })
    : withoutDiff(write.content, present);
  return { text: `${head}\n${diff}`, details: { ...details, ...written } };
}

function withoutDiff(content: Buffer, { lineCount, size }: Present): string {
  return lineCount === undefined ? `[it had ${count(size, "byte")}]` : changeCounts(countLines(content), lineCount);
}

/** What a file holds; the content itself only where a diff against it is worth showing. */
interface Present {
  readonly fingerprint: string;
  readonly size: number;
  /** This and the number of lines are absent for a huge file, unless its hash was asked for. */
  readonly sha256?: string;
  readonly lineCount?: number;
  readonly content?: Buffer;
}

async function readPresent(
  realPath: string,
  needsHash: boolean,
  signal: AbortSignal | undefined,
): Promise<Present | undefined> {
  const file = await openIfPresent(realPath);
  if (file === undefined) return undefined;
  try {
    const { size } = file.stats;
    if (isHuge(file)) {
      const hashed = needsHash ? await hashFile(file, signal) : {};
      return { fingerprint: await fingerprintOf(file), size, ...hashed };
    }
    if (size > MAX_COMPARED_BYTES) {
      const hashed = await hashFile(file, signal);
      return { fingerprint: hashed.sha256, size, ...hashed };
    }
    const content = await readWhole(file, signal);
    const hash = sha256(content);
    const isText = !content.includes(0);
    return { fingerprint: hash, size, sha256: hash, lineCount: countLines(content), ...(isText && { content }) };
  } finally {
    file.close();
  }
}

async function presentBytes(realPath: string): Promise<number | undefined> {
  try {
    return (await stat(realPath)).size;
  } catch {
    return undefined;
  }
}

function sizeOf(content: Buffer): string {
  return `${count(countLines(content), "line")}, ${count(content.length, "byte")}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
