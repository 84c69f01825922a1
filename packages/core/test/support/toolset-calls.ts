import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { CallAssessment } from "../../src/approval/contract.ts";
import type { EnvironmentConfig } from "../../src/environment/contract.ts";
import { Environment } from "../../src/environment/environment.ts";
import { toolsetDefinitions } from "../../src/environment/toolset-registry.ts";
import { modelMessage } from "../../src/omnimessage/build.ts";
import { collectOutput } from "./collect-output.ts";

export interface ToolsetCalls {
  /** The workspace: absolute, without links. */
  readonly dir: string;
  readonly environment: Environment;
  assess(name: string, args: unknown): Promise<CallAssessment>;
  /** Makes a call, with an assessment that was made before or one made now; strings are sent as they are. */
  call(
    name: string,
    args: unknown,
    options?: { readonly assessment?: CallAssessment; readonly signal?: AbortSignal },
  ): Promise<{ output: string; stopReason: string | undefined; details: Record<string, unknown> }>;
}

/** The tools of a set in an environment and a workspace of their own, both gone when the test has ended. */
export async function toolsetCalls(toolset: string, more: Partial<EnvironmentConfig> = {}): Promise<ToolsetCalls> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "toolset-test-")));
  const environment = new Environment({
    workspaceDir: dir,
    toolset,
    toolConfig: { customTools: toolsetDefinitions(toolset), mcpServers: [] },
    ...more,
  });
  onTestFinished(async () => {
    await environment.dispose();
    await rm(dir, { recursive: true, force: true });
  });
  return {
    dir,
    environment,
    assess: (name, args) => environment.assessCall(toolCall(name, args)),
    async call(name, args, options = {}) {
      const { complete } = await collectOutput(environment.executeTool({ toolCall: toolCall(name, args), ...options }));
      const { output, stop_reason: stopReason, details = {} } = complete;
      return { output, stopReason, details: details as Record<string, unknown> };
    },
  };
}

function toolCall(name: string, args: unknown) {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return modelMessage({ type: "tool_call", role: "assistant", name, arguments: text, tool_call_id: "call_1" });
}
