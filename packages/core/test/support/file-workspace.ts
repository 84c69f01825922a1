import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { EnvironmentConfig } from "../../src/environment/contract.ts";
import { FileGuard } from "../../src/environment/files/file-guard.ts";
import type { BuiltinToolModule } from "../../src/environment/tool.ts";
import { driveTool } from "./drive-tool.ts";

export interface FileWorkspace {
  /** Absolute, without links. */
  readonly dir: string;
  path(name: string): string;
  write(name: string, content: string | Uint8Array): Promise<string>;
  bytes(name: string): Promise<Buffer>;
  text(name: string): Promise<string>;
  /** Runs a tool of this workspace's session; `details` are those of its result. */
  run(
    module: BuiltinToolModule,
    args: Record<string, unknown>,
    options?: { state?: unknown; signal?: AbortSignal; maxOutputLength?: number; protectedPaths?: readonly string[] },
  ): Promise<{ text: string; stopReason: string | undefined; details: Record<string, unknown>; deltas: number }>;
}

/** A directory of its own for one test, gone when the test has ended, with the memory of one session. */
export async function fileWorkspace(): Promise<FileWorkspace> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "files-test-")));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const files = new FileGuard();
  const path = (name: string): string => join(dir, name);
  return {
    dir,
    path,
    async write(name, content) {
      await mkdir(dirname(path(name)), { recursive: true });
      await writeFile(path(name), content);
      return path(name);
    },
    bytes: (name) => readFile(path(name)),
    text: (name) => readFile(path(name), "utf8"),
    async run(module, args, { state, signal, maxOutputLength, protectedPaths } = {}) {
      const config: EnvironmentConfig = {
        workspaceDir: dir,
        toolConfig: { customTools: [], mcpServers: [] },
        services: { files },
        ...(protectedPaths && { protectedPaths }),
      };
      const definition = { ...module.definition, ...(maxOutputLength !== undefined && { maxOutputLength }) };
      const { text, result, messages } = await driveTool(module.create(definition, config), args, {
        workspaceDir: dir,
        state,
        ...(signal && { signal }),
      });
      return {
        text,
        stopReason: result.stopReason,
        details: (result.details ?? {}) as Record<string, unknown>,
        deltas: messages.length,
      };
    },
  };
}
