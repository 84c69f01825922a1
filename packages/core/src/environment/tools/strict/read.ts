import { containedPathArgument, locateContained } from "../../files/contained-path.ts";
import { fingerprintOf, isHuge } from "../../files/content-hash.ts";
import { byteArgument } from "../../files/file-arguments.ts";
import { FileGuard } from "../../files/file-guard.ts";
import { spellTarget } from "../../files/locate-file.ts";
import { openContained } from "../../files/open-regular-file.ts";
import { readRisk } from "../../files/read-risk.ts";
import { singleOutput } from "../../files/single-output.ts";
import { readUtf8Range } from "../../files/utf8-range.ts";
import type { BuiltinToolModule } from "../../tool.ts";

const DEFAULT_LIMIT_BYTES = 65_536;
const MAX_LIMIT_BYTES = 262_144;

/** Shows a range of a text file's bytes (PE-004 to PE-010). */
export const read: BuiltinToolModule = {
  definition: {
    name: "read",
    description: [
      "Read a range of bytes of a UTF-8 text file in the workspace.",
      "The last line, [bytes A–B of N], is not part of the file: bytes A to B - 1 of its N are shown; where B is less than N, go on with offset: B.",
    ].join(" "),
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Relative to the workspace." },
        offset: { type: "integer", minimum: 0, description: "First byte to show, counted from 0. Default 0." },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: MAX_LIMIT_BYTES,
          description: `Number of bytes to show, at most ${MAX_LIMIT_BYTES}. Default ${DEFAULT_LIMIT_BYTES}.`,
        },
      },
      required: ["path"],
    },
    permission: "r",
    timeoutMs: 30_000,
    // A range has no more characters than bytes.
    maxOutputLength: MAX_LIMIT_BYTES,
  },
  create(definition, { services, protectedPaths }) {
    const files = services?.files ?? new FileGuard();
    return {
      name: definition.name,
      definition,
      risk: "read_only",
      assessRisk: (args, context) => readRisk(containedPathArgument(args, "path"), context),
      async approvalSummary(args, context) {
        const { path, offset, limit } = rangeOf(args);
        await locateContained(path, { ...context, protectedPaths });
        return `read ${await spellTarget(path, context)}, bytes ${offset}–${offset + limit}`;
      },
      paths: (args) => ({ read: [containedPathArgument(args, "path")] }),
      execute(args, context) {
        const { toolCallId, signal } = context;
        return singleOutput({ toolCallId, verb: "read", path: args.path }, async () => {
          const { path, offset, limit } = rangeOf(args);
          const realPath = await locateContained(path, { ...context, protectedPaths });
          const file = await openContained(realPath);
          try {
            const fingerprint = await fingerprintOf(file, signal);
            files.remember(realPath, fingerprint);
            const { text, start, end, totalBytes } = await readUtf8Range(file, offset, limit);
            return {
              text,
              note: `[bytes ${start}–${end} of ${totalBytes}]`,
              details: {
                path: realPath,
                ...(!isHuge(file) && { sha256: fingerprint }),
                bytes: { start, end, total: totalBytes },
                truncated: start > 0 || end < totalBytes,
              },
            };
          } finally {
            file.close();
          }
        });
      },
    };
  },
};

function rangeOf(args: Record<string, unknown>): { path: string; offset: number; limit: number } {
  return {
    path: containedPathArgument(args, "path"),
    offset: byteArgument(args, "offset", { min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0 }),
    limit: byteArgument(args, "limit", { min: 1, max: MAX_LIMIT_BYTES, fallback: DEFAULT_LIMIT_BYTES }),
  };
}
