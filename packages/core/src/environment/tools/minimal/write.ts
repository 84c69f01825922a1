import { toAgentTool } from "../../adapt-builtin-tool.ts";
import type { AgentTool } from "../../agent-tool.ts";
import type { EnvironmentConfig, ToolDefinitionConfig } from "../../contract.ts";
import { previewLines } from "../../files/approval-preview.ts";
import { checkExpectedFile } from "../../files/expected-file.ts";
import { filePathArgument, optionalTextArgument, textArgument } from "../../files/file-arguments.ts";
import { FileGuard } from "../../files/file-guard.ts";
import { FileProblem } from "../../files/file-problem.ts";
import { locateFile, spellTarget } from "../../files/locate-file.ts";
import { presentFingerprint } from "../../files/present-fingerprint.ts";
import { checkSeen, seenState } from "../../files/seen-state.ts";
import { singleOutput } from "../../files/single-output.ts";
import { writeWithParents } from "../../files/write-with-parents.ts";
import { modelVisiblePath } from "../../model-visible-path.ts";
import type { BuiltinTool, BuiltinToolModule } from "../../tool.ts";

export interface WriteToolOptions {
  /** What relative paths start from; default, at each call: the process's own directory. */
  readonly cwd?: string;
}

export interface WriteDetails {
  /** As it was given. */
  readonly path: string;
  readonly bytesWritten: number;
}

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "Absolute, or relative to the working directory." },
    content: { type: "string", description: "The whole content, written as given; may be empty." },
  },
  required: ["path", "content"],
} as const;

const definition: ToolDefinitionConfig = {
  name: "write",
  description:
    "Create a file or replace its whole content; missing parent directories are created. To change a part of a file use edit.",
  parameters,
  permission: "rw",
  timeoutMs: 30_000,
  maxOutputLength: 16_000,
};

/** Creates a file or replaces its whole content (PI-040 to PI-044). */
export const write: BuiltinToolModule = { definition, create: writeTool };

/** The write tool for use anywhere; a write that cannot be done is a result with `isError`. */
export function createWriteTool({ cwd }: WriteToolOptions = {}): AgentTool<typeof parameters, WriteDetails> {
  return toAgentTool(writeTool(definition, {}), { label: "Write", parameters, cwd });
}

function writeTool(
  definition: ToolDefinitionConfig,
  { services, protectedPaths }: Pick<EnvironmentConfig, "services" | "protectedPaths">,
): BuiltinTool {
  const files = services?.files ?? new FileGuard();
  return {
    name: definition.name,
    definition,
    risk: "filesystem",
    async approvalSummary(args, context) {
      const { path, content } = writeOf(args);
      const seen = await seenState(args, "path", context);
      const what = seen === undefined ? "write" : seen.fingerprint === null ? "create" : "overwrite";
      const head = `${what} ${await spellTarget(path, context)} with ${content.length} bytes`;
      return content.length === 0 ? head : `${head}\n${previewLines("+", content.toString())}`;
    },
    paths: (args) => ({ write: [textArgument(args, "path")] }),
    assessState: (args, context) => seenState(args, "path", context),
    execute(args, context) {
      return singleOutput({ toolCallId: context.toolCallId, verb: "write", path: args.path }, async () => {
        const { path, content } = writeOf(args);
        const expectedSha256 = optionalTextArgument(args, "expected_sha256");
        const realPath = await locateFile(path, { ...context, protectedPaths });
        return await files.exclusively(realPath, async () => {
          await checkExpectedFile(realPath, expectedSha256, context.signal);
          const now = await presentFingerprint(realPath);
          checkSeen(context.state, services?.files?.lastSeen(realPath), now);
          if (context.signal?.aborted) throw new FileProblem("interrupted; nothing was written");
          const { sha256: hash, ...written } = await files.install(realPath, content, writeWithParents);
          return {
            text: `✓ Wrote ${content.length} bytes to ${modelVisiblePath(path)}`,
            details: { path, bytesWritten: content.length, ...written, ...(services?.files && { sha256: hash }) },
          };
        });
      });
    },
  };
}

function writeOf(args: Record<string, unknown>): { path: string; content: Buffer } {
  return { path: filePathArgument(args, "path"), content: Buffer.from(textArgument(args, "content")) };
}
