import { toAgentTool } from "../../adapt-builtin-tool.ts";
import type { AgentTool } from "../../agent-tool.ts";
import type { EnvironmentConfig, ToolDefinitionConfig } from "../../contract.ts";
import { previewLines } from "../../files/approval-preview.ts";
import { sha256 } from "../../files/content-hash.ts";
import { optionalTextArgument, textArgument } from "../../files/file-arguments.ts";
import { FileGuard } from "../../files/file-guard.ts";
import { FileProblem } from "../../files/file-problem.ts";
import { assessedPath, locateFile, spellTarget } from "../../files/locate-file.ts";
import { openRegularFile } from "../../files/open-regular-file.ts";
import { MAX_WHOLE_BYTES, readWhole } from "../../files/read-chunks.ts";
import { replaceRanges } from "../../files/replace-ranges.ts";
import { checkSeen, seenState } from "../../files/seen-state.ts";
import { type FileToolReport, singleOutput } from "../../files/single-output.ts";
import { checkExpected } from "../../files/stale-check.ts";
import { isUtf16 } from "../../files/utf16.ts";
import { modelVisiblePath } from "../../model-visible-path.ts";
import type { BuiltinTool, BuiltinToolModule, ToolExecutionContext } from "../../tool.ts";
import { changedLines } from "./changed-lines.ts";
import { type Edit, editedRange, readEdit } from "./edited-range.ts";

export interface EditToolOptions {
  /** What relative paths start from; default, at each call: the process's own directory. */
  readonly cwd?: string;
}

export interface EditDetails {
  /** As it was given. */
  readonly path: string;
  /** Of the lines as they were before. */
  readonly startLine: number;
  readonly endLine: number;
  readonly linesChanged: number;
  /** Removed lines behind `- `, added ones behind `+ `; at most 16,000 characters. */
  readonly diff: string;
}

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "Absolute, or relative to the working directory." },
    startLine: { type: "integer", description: "First line to replace, counted from 1." },
    endLine: { type: "integer", description: "Last line to replace, itself included." },
    content: { type: "string", description: "The lines to put there; empty removes the old ones." },
    oldText: { type: "string", description: "The text to replace, exactly as it stands in the file, once." },
    newText: { type: "string", description: "The text to put there." },
  },
  required: ["path"],
} as const;

const definition: ToolDefinitionConfig = {
  name: "edit",
  description:
    "Change a part of an existing file: give startLine, endLine and content to replace those lines, or oldText and newText to replace a text that occurs exactly once.",
  parameters,
  permission: "rw",
  timeoutMs: 30_000,
  maxOutputLength: 16_000,
};

/** Replaces a range of lines, or one text (PI-046 to PI-051). */
export const edit: BuiltinToolModule = { definition, create: editTool };

/** The edit tool for use anywhere; an edit that cannot be done is a result with `isError`. */
export function createEditTool({ cwd }: EditToolOptions = {}): AgentTool<typeof parameters, EditDetails> {
  return toAgentTool(editTool(definition, {}), { label: "Edit", parameters, cwd });
}

function editTool(
  definition: ToolDefinitionConfig,
  { services, protectedPaths }: Pick<EnvironmentConfig, "services" | "protectedPaths">,
): BuiltinTool {
  const files = services?.files ?? new FileGuard();
  return {
    name: definition.name,
    definition,
    risk: "filesystem",
    async approvalSummary(args, context) {
      const path = textArgument(args, "path");
      const wanted = readEdit(args);
      // What is not there yet may come from a call before this one; else the call itself says why it cannot be done.
      const place = await contentOf(await assessedPath(path, context))
        .then((content) => placeFound(content, wanted))
        .catch(() => placeAsked(wanted));
      const added = wanted.form === "lines" ? wanted.content : wanted.newText;
      return [
        `edit ${await spellTarget(path, context)}${place.where}`,
        ...(place.removed === "" ? [] : [previewLines("-", place.removed)]),
        ...(added === "" ? [] : [previewLines("+", added)]),
      ].join("\n");
    },
    paths(args) {
      const path = textArgument(args, "path");
      return { read: [path], write: [path] };
    },
    assessState: (args, context) => seenState(args, "path", context),
    execute(args, context) {
      return singleOutput({ toolCallId: context.toolCallId, verb: "edit", path: args.path }, async () => {
        const path = textArgument(args, "path");
        const wanted = readEdit(args);
        const expectedSha256 = optionalTextArgument(args, "expected_sha256");
        const realPath = await locateFile(path, { ...context, protectedPaths });
        return await files.exclusively(realPath, () =>
          applyEdit(path, wanted, {
            realPath,
            expectedSha256,
            files,
            inSession: services?.files !== undefined,
            context,
          }),
        );
      });
    },
  };
}

/** Where an edit takes place, for the person who decides. */
interface ShownPlace {
  readonly where: string;
  readonly removed: string;
}

async function placeFound(content: Buffer, edit: Edit): Promise<ShownPlace> {
  const { startLine, endLine, replacement } = await editedRange(content, edit);
  const removed = content.toString("utf8", replacement.start, replacement.end);
  return { where: `, lines ${startLine} to ${endLine}`, removed };
}

function placeAsked(edit: Edit): ShownPlace {
  if (edit.form === "text") return { where: "", removed: edit.oldText };
  return { where: `, lines ${edit.startLine} to ${edit.endLine}`, removed: "" };
}

interface EditPlace {
  readonly realPath: string;
  readonly expectedSha256: string | undefined;
  readonly files: FileGuard;
  /** What the session last saw counts, and is kept. */
  readonly inSession: boolean;
  readonly context: ToolExecutionContext;
}

async function applyEdit(path: string, edit: Edit, place: EditPlace): Promise<FileToolReport> {
  const { realPath, expectedSha256, files, inSession, context } = place;
  const before = await contentOf(realPath, context.signal);
  const found = sha256(before);
  checkExpected(expectedSha256, found);
  const lastSeen = (inSession ? files.lastSeen(realPath) : undefined) ?? found;
  // A text that occurs once is the same text still; a line number may mean another line.
  if (edit.form === "lines") checkSeen(context.state, lastSeen, found);
  const { replacement, startLine, endLine, exact } = await editedRange(before, edit, context.signal);
  if (!exact) checkSeen(context.state, lastSeen, found);
  const after = replaceRanges(before, [replacement]);
  if (after.equals(before)) throw new FileProblem("the new text is what stands there already, so nothing would change");
  if (context.signal?.aborted) throw new FileProblem("interrupted; nothing was written");
  const { sha256: hash, ...written } = await files.install(realPath, after);
  const note = lastSeen === found ? "" : "\n[the file had changed since this session last saw it]";
  return {
    text: `✓ Edited lines ${startLine}-${endLine} in ${modelVisiblePath(path)}${note}`,
    details: {
      path,
      startLine,
      endLine,
      linesChanged: endLine - startLine + 1,
      diff: await changedLines(before, replacement),
      ...written,
      ...(inSession && { sha256: hash }),
    },
  };
}

async function contentOf(realPath: string, signal?: AbortSignal): Promise<Buffer> {
  const file = await openRegularFile(realPath);
  try {
    if (file.stats.size > MAX_WHOLE_BYTES)
      throw new FileProblem("the file is over 64 MiB; change it with bash (sed, perl)");
    const content = await readWhole(file, signal);
    if (!isUtf16(content)) return content;
    throw new FileProblem("the file is UTF-16; use bash (iconv to UTF-8, edit, iconv back)");
  } finally {
    file.close();
  }
}
