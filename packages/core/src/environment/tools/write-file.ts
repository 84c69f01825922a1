import { stat } from "node:fs/promises";
import { previewLines } from "../files/approval-preview.ts";
import { filePathArgument, optionalTextArgument, textArgument } from "../files/file-arguments.ts";
import { FileGuard } from "../files/file-guard.ts";
import { assessedPath, locateFile, spellTarget } from "../files/locate-file.ts";
import { seenState } from "../files/seen-state.ts";
import { outputRoom, singleOutput } from "../files/single-output.ts";
import { count, sizeOf, type WholeFileWrite, writeWholeFile } from "../files/whole-file-write.ts";
import type { BuiltinToolModule } from "../tool.ts";

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
            writeWholeFile(write, { realPath, files, maxCharacters: outputRoom(definition), context }),
          );
        });
      },
    };
  },
};

function writeOf(args: Record<string, unknown>): WholeFileWrite {
  return {
    path: filePathArgument(args, "file_path"),
    content: Buffer.from(textArgument(args, "content")),
    expectedSha256: optionalTextArgument(args, "expected_sha256"),
  };
}

async function presentBytes(realPath: string): Promise<number | undefined> {
  try {
    return (await stat(realPath)).size;
  } catch {
    return undefined;
  }
}
