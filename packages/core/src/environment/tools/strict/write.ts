import { errorCode } from "../../../errors/error-text.ts";
import { previewLines } from "../../files/approval-preview.ts";
import { createFileAtomically, type WriteReport, writeFileAtomically } from "../../files/atomic-write.ts";
import { containedPathArgument, locateContained } from "../../files/contained-path.ts";
import { filePathArgument, optionalTextArgument, textArgument } from "../../files/file-arguments.ts";
import { FileGuard } from "../../files/file-guard.ts";
import { FileProblem } from "../../files/file-problem.ts";
import { spellTarget } from "../../files/locate-file.ts";
import { overwriteDiff } from "../../files/overwrite-diff.ts";
import { inPinnedDirectory } from "../../files/pinned-directory.ts";
import { readPresent } from "../../files/present-file.ts";
import { seenState } from "../../files/seen-state.ts";
import { outputRoom, singleOutput } from "../../files/single-output.ts";
import { diffPath } from "../../files/unified-diff.ts";
import { alreadyThere, count, sizeOf, type WholeFileWrite, writeWholeFile } from "../../files/whole-file-write.ts";
import { writeWithParents } from "../../files/write-with-parents.ts";
import type { BuiltinToolModule, ToolExecutionContext } from "../../tool.ts";

/** Of the diff in a summary. */
const MAX_DIFF_CHARS = 4000;

/** Creates a file, or replaces the whole content of one (PE-011 to PE-021). */
export const write: BuiltinToolModule = {
  definition: {
    name: "write",
    description: [
      "Create a file in the workspace, or replace the whole content of one.",
      'mode "create" fails where something is already and creates missing parent directories; mode "replace" fails where no file is.',
      "A file that changed since it was last read in this session is not replaced.",
    ].join(" "),
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Relative to the workspace." },
        content: { type: "string", description: "The whole content, written as given; may be empty." },
        mode: { type: "string", enum: ["create", "replace"] },
        expected_sha256: {
          type: "string",
          description: "Refuse the write unless the file's present content has this SHA-256.",
        },
      },
      required: ["path", "content", "mode"],
    },
    permission: "rw",
    timeoutMs: 30_000,
    maxOutputLength: 16_000,
  },
  create(definition, { services, protectedPaths }) {
    const files = services?.files ?? new FileGuard();
    return {
      name: definition.name,
      definition,
      risk: "filesystem",
      async approvalSummary(args, context) {
        const wanted = writeOf(args);
        return await summaryOf(wanted, await locateContained(wanted.path, { ...context, protectedPaths }), context);
      },
      paths: (args) => ({ write: [containedPathArgument(args, "path")] }),
      assessState: (args, context) => seenState(args, "path", context),
      execute(args, context) {
        return singleOutput({ toolCallId: context.toolCallId, verb: "write", path: args.path }, async () => {
          const wanted = writeOf(args);
          const realPath = await locateContained(wanted.path, { ...context, protectedPaths });
          const install = installer(wanted.mode);
          return await files.exclusively(realPath, () =>
            writeWholeFile(wanted, { realPath, files, maxCharacters: outputRoom(definition), context, install }),
          );
        });
      },
    };
  },
};

type Write = WholeFileWrite & { readonly mode: "create" | "replace" };

function writeOf(args: Record<string, unknown>): Write {
  const { mode } = args;
  if (mode !== "create" && mode !== "replace") {
    throw new FileProblem(`mode must be "create" or "replace", got ${JSON.stringify(mode) ?? "nothing"}`);
  }
  filePathArgument(args, "path");
  return {
    path: containedPathArgument(args, "path"),
    content: Buffer.from(textArgument(args, "content")),
    mode,
    expectedSha256: optionalTextArgument(args, "expected_sha256"),
  };
}

/** What would happen, then the change as a diff, or how the new text begins. */
async function summaryOf(
  { path, content, mode }: Write,
  realPath: string,
  context: Pick<ToolExecutionContext, "workspaceDir" | "paths">,
): Promise<string> {
  // What cannot be read, the call itself will tell.
  const present = await readPresent(realPath, false, undefined).catch(() => undefined);
  const was = present === undefined ? "" : `, now ${count(present.size, "byte")}`;
  const head = `${mode} ${await spellTarget(path, context)} with ${sizeOf(content)}${was}`;
  const text = content.length === 0 ? "" : previewLines("+", content.toString());
  if (mode === "create" || present?.content === undefined) return [head, text].filter(Boolean).join("\n");
  const options = { path: diffPath(context.workspaceDir, path), maxCharacters: MAX_DIFF_CHARS };
  const diff = await overwriteDiff(present.content, content, options);
  return [head, diff, ...(diff.includes("\n") ? [] : [text])].filter(Boolean).join("\n");
}

/** Puts the content in place in the directory that was judged, and never over a file that is to be created. */
function installer(mode: Write["mode"]): (realPath: string, content: Buffer) => Promise<WriteReport> {
  const put = mode === "create" ? createFileAtomically : writeFileAtomically;
  return async (realPath, content) => {
    try {
      return await writeWithParents(realPath, content, (path, bytes) =>
        inPinnedDirectory(path, (pinned) => put(pinned, bytes)),
      );
    } catch (error) {
      throw mode === "create" && errorCode(error) === "EEXIST" ? alreadyThere() : error;
    }
  };
}
