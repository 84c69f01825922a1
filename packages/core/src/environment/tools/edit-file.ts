import { previewLines } from "../files/approval-preview.ts";
import { sha256 } from "../files/content-hash.ts";
import { editDiff } from "../files/edit-diff.ts";
import { optionalTextArgument, textArgument } from "../files/file-arguments.ts";
import { FileGuard } from "../files/file-guard.ts";
import { FileProblem } from "../files/file-problem.ts";
import { findOccurrences, type Occurrences } from "../files/find-occurrences.ts";
import { locateFile, spellTarget } from "../files/locate-file.ts";
import { describeNearestLines } from "../files/nearest-lines.ts";
import { openRegularFile } from "../files/open-regular-file.ts";
import { MAX_WHOLE_BYTES, readWhole } from "../files/read-chunks.ts";
import { type Replacement, replaceRanges, toReplacements } from "../files/replace-ranges.ts";
import { type FileToolReport, outputRoom, singleOutput } from "../files/single-output.ts";
import { checkExpected, checkUnchanged } from "../files/stale-check.ts";
import { diffPath } from "../files/unified-diff.ts";
import { isUtf16 } from "../files/utf16.ts";
import { modelVisiblePath } from "../model-visible-path.ts";
import type { BuiltinToolModule } from "../tool.ts";

const MAX_RESULT_BYTES = 256 * 1024 * 1024;
const MAX_PLACES = 100_000;
const LAST_SEEN = "this session last saw it";
const SHELL = "shell (sed, perl)";
const UTF16 = "the file is UTF-16, which edit_file cannot change; use the shell (iconv to UTF-8, edit, iconv back)";

/** Replaces an exact piece of a file and shows what changed. */
export const editFile: BuiltinToolModule = {
  definition: {
    name: "edit_file",
    description:
      "Replace an exact piece of text in an existing file. old_string must occur exactly once, white space and indentation included, unless replace_all is true. Answers with a unified diff of the change.",
    parameters: {
      type: "object",
      properties: {
        file_path: { type: "string", description: "Absolute, or relative to the workspace." },
        old_string: { type: "string", description: "The text to replace, exactly as it stands in the file." },
        new_string: { type: "string", description: "The text to put there; must differ from old_string." },
        replace_all: { type: "boolean", description: "Replace every occurrence. Default false." },
        expected_sha256: {
          type: "string",
          description: "Refuse the edit unless the file's content has this SHA-256.",
        },
      },
      required: ["file_path", "old_string", "new_string"],
    },
    permission: "rw",
    timeoutMs: 30_000,
    maxOutputLength: 16_000,
  },
  create(definition, config) {
    const files = config.services?.files ?? new FileGuard();
    const maxCharacters = outputRoom(definition);
    return {
      name: definition.name,
      definition,
      risk: "filesystem",
      async approvalSummary(args, context) {
        const edit = editOf(args);
        const path = await spellTarget(edit.path, context);
        const what = edit.replaceAll ? "every occurrence of a text" : "a text";
        const sizes = `${edit.oldText.length} -> ${edit.newText.length} characters`;
        const head = `edit ${path}: replace ${what} (${sizes})`;
        return [head, previewLines("-", edit.oldText), previewLines("+", edit.newText)].join("\n");
      },
      paths(args) {
        const path = textArgument(args, "file_path");
        return { read: [path], write: [path] };
      },
      execute(args, context) {
        const { workspaceDir, toolCallId, signal } = context;
        return singleOutput({ toolCallId, verb: "edit", path: args.file_path }, async () => {
          const edit = editOf(args);
          const realPath = await locateFile(edit.path, { ...context, protectedPaths: config.protectedPaths });
          return await files.exclusively(realPath, () =>
            applyEdit(edit, { realPath, workspaceDir, files, maxCharacters, signal }),
          );
        });
      },
    };
  },
};

interface Edit {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
  readonly expectedSha256: string | undefined;
}

function editOf(args: Record<string, unknown>): Edit {
  const edit = {
    path: textArgument(args, "file_path"),
    oldText: textArgument(args, "old_string"),
    newText: textArgument(args, "new_string"),
    replaceAll: args.replace_all === true,
    expectedSha256: optionalTextArgument(args, "expected_sha256"),
  };
  if (edit.oldText === "") {
    throw new FileProblem("old_string is empty; to create a file or replace its whole content use write_file");
  }
  if (edit.oldText === edit.newText) {
    throw new FileProblem("old_string and new_string are equal, so nothing would change");
  }
  return edit;
}

interface EditPlace {
  readonly realPath: string;
  readonly workspaceDir: string;
  readonly files: FileGuard;
  readonly maxCharacters: number;
  readonly signal: AbortSignal | undefined;
}

async function applyEdit(edit: Edit, place: EditPlace): Promise<FileToolReport> {
  const before = await readBefore(place.realPath, place.signal);
  const found = sha256(before);
  checkExpected(edit.expectedSha256, found);
  if (isUtf16(before)) throw new FileProblem(UTF16);
  const search = { maxCount: MAX_PLACES + 1, signal: place.signal };
  const occurrences = await findOccurrences(before, edit.oldText, search);
  checkCount(before, edit, occurrences);
  const lastSeen = place.files.lastSeen(place.realPath) ?? found;
  const count = occurrences.ranges.length;
  if (!occurrences.exact || count > 1) checkUnchanged(LAST_SEEN, lastSeen, found);
  const replacements = toReplacements(before, occurrences.ranges, edit.oldText, edit.newText);
  checkSize(before, replacements);
  const after = replaceRanges(before, replacements);
  if (after.equals(before)) throw new FileProblem("new_string is what stands there already, so nothing would change");
  if (place.signal?.aborted) throw new FileProblem("interrupted; nothing was written");
  const written = await place.files.install(place.realPath, after);

  const replaced = `Replaced ${count} occurrence(s) in ${modelVisiblePath(edit.path)}`;
  const head = lastSeen === found ? replaced : `${replaced}\n[the file had changed since ${LAST_SEEN}]`;
  const diff = await editDiff(before, replacements, {
    path: diffPath(place.workspaceDir, edit.path),
    maxCharacters: place.maxCharacters - head.length - 1,
  });
  return {
    text: `${head}\n${diff}`,
    details: { path: place.realPath, replacements: count, ...written },
  };
}

async function readBefore(realPath: string, signal: AbortSignal | undefined): Promise<Buffer> {
  const file = await openRegularFile(realPath);
  try {
    if (file.stats.size > MAX_WHOLE_BYTES) throw new FileProblem(`the file is over 64 MiB; edit it with the ${SHELL}`);
    return await readWhole(file, signal);
  } finally {
    file.close();
  }
}

function checkCount(content: Buffer, edit: Edit, { ranges }: Occurrences): void {
  if (ranges.length === 0) throw new FileProblem(`old_string was not found; ${describeMiss(content, edit.oldText)}`);
  if (ranges.length === 1 || (edit.replaceAll && ranges.length <= MAX_PLACES)) return;
  const isTooMany = ranges.length > MAX_PLACES;
  const times = isTooMany ? `more than ${MAX_PLACES.toLocaleString("en")} times` : `${ranges.length} times`;
  throw new FileProblem(`old_string occurs ${times}, and nothing was replaced; ${adviceFor(edit, isTooMany)}`);
}

function adviceFor({ replaceAll }: Edit, isTooMany: boolean): string {
  if (replaceAll) return `change so many places with the ${SHELL}`;
  const more = "add the lines around the right place to old_string";
  return isTooMany ? more : `${more}, or set replace_all to change every one`;
}

function checkSize(before: Buffer, replacements: readonly Replacement[]): void {
  const bytes = replacements.reduce((sum, { start, end, bytes }) => sum + bytes.length - (end - start), before.length);
  if (bytes <= MAX_RESULT_BYTES) return;
  const size = Math.round(bytes / 1024 / 1024);
  throw new FileProblem(`the file would grow to ${size} MiB, over 256 MiB; change it with the ${SHELL}`);
}

function describeMiss(content: Buffer, oldText: string): string {
  const nearest = describeNearestLines(content, oldText);
  return /^ *\d+\t/.test(oldText)
    ? `it begins with a line number of read_file, which is not part of the file; ${nearest}`
    : nearest;
}
