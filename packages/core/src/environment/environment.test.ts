import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { type CollectedOutput, collectOutput } from "../../test/support/collect-output.ts";
import type { ApproveFn } from "../approval/contract.ts";
import { modelMessage } from "../omnimessage/build.ts";
import type { OmniMessage, ToolCallPayload, ToolDefinition } from "../omnimessage/message.ts";
import { isConnectable } from "./connect.ts";
import type {
  EnvironmentConfig,
  EnvironmentInterface,
  MCPServerConfig,
  ToolConfig,
  ToolDefinitionConfig,
  ToolExecutionRequest,
  ToolResult,
  ToolSource,
} from "./contract.ts";
import { Environment } from "./environment.ts";
import { outputDelta } from "./output-delta.ts";
import { ProcessRegistry } from "./process/process-registry.ts";
import type { BuiltinTool, ToolExecutionContext } from "./tool.ts";
import { BUILTIN_TOOL_FACTORIES, STANDARD_TOOLSET } from "./tool-registry.ts";

const toolConfig: ToolConfig = { customTools: [], mcpServers: [] };

function makeEnvironment(config: Partial<EnvironmentConfig> = {}): Environment {
  return new Environment({ workspaceDir: tmpdir(), toolConfig, onWarning: () => {}, ...config });
}

/** A tool that answers with its arguments and keeps what it was given. */
class EchoTool implements BuiltinTool {
  readonly name: string;
  readonly definition: BuiltinTool["definition"];
  args: Record<string, unknown> | undefined;
  context: ToolExecutionContext | undefined;

  constructor(definition: Partial<BuiltinTool["definition"]> = {}) {
    this.definition = { name: "echo", description: "Says it back.", ...definition };
    this.name = this.definition.name;
  }

  async *execute(
    args: Record<string, unknown>,
    context: ToolExecutionContext,
  ): AsyncGenerator<OmniMessage, ToolResult> {
    this.args = args;
    this.context = context;
    yield outputDelta(context.toolCallId, JSON.stringify(args));
    return {};
  }
}

function call(name: string, args: unknown = {}, id = "call_1"): OmniMessage<ToolCallPayload> {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return modelMessage({ type: "tool_call", role: "assistant", name, arguments: text, tool_call_id: id });
}

function run(environment: EnvironmentInterface, request: ToolExecutionRequest): Promise<CollectedOutput> {
  return collectOutput(environment.executeTool(request));
}

describe("types", () => {
  test("the environment's contract (PC-052, PC-053, PC-063, PC-070)", () => {
    expectTypeOf<EnvironmentInterface["listTools"]>().returns.toEqualTypeOf<Promise<ToolDefinition[]>>();
    expectTypeOf<EnvironmentInterface["executeTool"]>().returns.toEqualTypeOf<AsyncGenerator<OmniMessage>>();
    expectTypeOf<{ workspaceDir: string; toolConfig: ToolConfig }>().toExtend<EnvironmentConfig>();
    expectTypeOf<{ workspaceDir: string }>().not.toExtend<EnvironmentConfig>();
    expectTypeOf<{ toolConfig: ToolConfig }>().not.toExtend<EnvironmentConfig>();
    expectTypeOf<ToolConfig>().toEqualTypeOf<{
      readonly customTools: readonly ToolDefinitionConfig[];
      readonly mcpServers: readonly MCPServerConfig[];
    }>();
    expectTypeOf<MCPServerConfig>().toEqualTypeOf<{
      readonly name: string;
      readonly config: Readonly<Record<string, unknown>>;
    }>();
    expectTypeOf<Environment>().toExtend<EnvironmentInterface>();
  });

  test("the tool contract (PT-017, PT-018, PC-073, PC-074)", () => {
    expectTypeOf<BuiltinTool["name"]>().toEqualTypeOf<string>();
    expectTypeOf<BuiltinTool["definition"]>().toExtend<ToolDefinitionConfig>();
    expectTypeOf<BuiltinTool["execute"]>().parameters.toEqualTypeOf<[Record<string, unknown>, ToolExecutionContext]>();
    expectTypeOf<BuiltinTool["execute"]>().returns.toExtend<AsyncGenerator<OmniMessage>>();
    expectTypeOf<AsyncGenerator<OmniMessage, void>>().toExtend<ReturnType<BuiltinTool["execute"]>>();
    expectTypeOf<AsyncGenerator<OmniMessage, ToolResult>>().toExtend<ReturnType<BuiltinTool["execute"]>>();
    expectTypeOf<{ workspaceDir: string; toolCallId: string }>().toExtend<ToolExecutionContext>();
    expectTypeOf<{
      workspaceDir: string;
      toolCallId: string;
      signal: AbortSignal;
      approve: ApproveFn;
    }>().toExtend<ToolExecutionContext>();
    expectTypeOf<{ name: string; description: string }>().toExtend<ToolDefinitionConfig>();
    expectTypeOf<{ name: string }>().not.toExtend<ToolDefinitionConfig>();
  });
});

describe("tools", () => {
  test("a definition reaches the model as written, with its permission (PT-070 to PT-073, PT-080)", async () => {
    const parameters = { type: "object", properties: { description: {}, text: {} }, required: ["description", "text"] };
    const echo = new EchoTool({ description: "As\nwritten.", parameters, label: "Echo", hidden: true });
    const definition = { name: "echo", description: "As\nwritten.", parameters, label: "Echo", hidden: true };
    expect(await makeEnvironment({ tools: [echo] }).listTools()).toEqual([{ ...definition, permission: "rw" }]);
    expect(await makeEnvironment({ tools: [new EchoTool()] }).listTools()).toEqual([
      {
        name: "echo",
        description: "Says it back.",
        parameters: { type: "object", properties: {} },
        permission: "rw",
      },
    ]);
  });

  test("call_description: false takes the argument out of the schema, on a copy", async () => {
    const parameters = { type: "object", properties: { description: {}, text: {} }, required: ["description", "text"] };
    const echo = new EchoTool({ parameters, call_description: false });
    const [tool] = await makeEnvironment({ tools: [echo] }).listTools();
    expect(tool?.parameters).toEqual({ type: "object", properties: { text: {} }, required: ["text"] });
    expect(parameters.required).toEqual(["description", "text"]);
    const kept = await makeEnvironment({ tools: [new EchoTool({ parameters, call_description: true })] }).listTools();
    expect(kept[0]?.parameters).toEqual(parameters);
  });

  test("the permission of a name is r, rw, or undefined for one it does not know (PC-054)", () => {
    const readOnly = Object.assign(new EchoTool({ name: "look" }), { risk: "read_only" as const });
    const asked = Object.assign(new EchoTool({ name: "ask", permission: "rw" }), { risk: "read_only" as const });
    const environment = makeEnvironment({ tools: [readOnly, asked, new EchoTool()] });
    expect(["look", "ask", "echo", "constructor"].map((name) => environment.toolPermission(name))).toEqual([
      "r",
      "rw",
      "rw",
      undefined,
    ]);
  });

  test("forModel leaves the list as it is: whoever configures decides", async () => {
    const tools = [new EchoTool({ name: "see", forModel: "vision" }), new EchoTool({ forModel: "text-only" })];
    expect(await makeEnvironment({ tools }).listTools()).toHaveLength(2);
  });

  test("every name of the registry makes a tool of its definition (PC-077)", async () => {
    for (const { name } of STANDARD_TOOLSET) expect(BUILTIN_TOOL_FACTORIES[name]).toBeTypeOf("function");
    const environment = makeEnvironment({ toolConfig: { customTools: STANDARD_TOOLSET, mcpServers: [] } });
    const listed = await environment.listTools();
    expect(listed.map(({ name, description }) => ({ name, description }))).toEqual(
      STANDARD_TOOLSET.map(({ name, description }) => ({ name, description })),
    );
    await environment.dispose();
  });

  test("no tool exists only for fetching archives (PT-048)", () => {
    for (const name of Object.keys(BUILTIN_TOOL_FACTORIES)) expect(name).not.toMatch(/archive|recover|fetch|output/);
  });

  test("an unknown built-in name is a configuration error that lists the known ones", () => {
    for (const name of ["exec_comand", "constructor", "__proto__"]) {
      const customTools = [{ name, description: "" }];
      expect(() => makeEnvironment({ toolConfig: { customTools, mcpServers: [] } })).toThrow(
        expect.objectContaining({
          code: "config-invalid",
          message: `no built-in tool is named "${name}"`,
          hint: `use one of ${Object.keys(BUILTIN_TOOL_FACTORIES).join(", ")}`,
        }),
      );
    }
  });

  test("a given tool with the name of a built-in one is rejected (PE-053)", () => {
    const [first] = STANDARD_TOOLSET;
    if (first === undefined) throw new Error("there is no standard tool");
    const config = {
      toolConfig: { customTools: [first], mcpServers: [] },
      tools: [new EchoTool({ name: first.name })],
    };
    expect(() => makeEnvironment(config)).toThrow(expect.objectContaining({ code: "tool-duplicate" }));
  });

  test("tools of sources are listed, have a permission and run", async () => {
    const source: ToolSource = { id: "s", tools: async () => [new EchoTool()], dispose() {} };
    const environment = makeEnvironment({ toolSources: [source] });
    const { complete } = await run(environment, { toolCall: call("echo", { text: "hi" }) });
    expect(complete).toMatchObject({ output: '{"text":"hi"}', stop_reason: "completed" });
    expect(environment.toolPermission("echo")).toBe("rw");
    expect(isConnectable(environment) && environment.unconnected).toEqual([]);
  });
});

describe("execution", () => {
  test("it works alone, with a scratchpad and no type about archives (PC-058, PC-072)", async () => {
    const workspaceDir = await mkdtemp(join(tmpdir(), "rookery-environment-"));
    const sessionScratchpadDir = await mkdtemp(join(tmpdir(), "rookery-scratch-"));
    await writeFile(join(workspaceDir, "a.txt"), "hello\n".repeat(100));
    const customTools = STANDARD_TOOLSET.map((tool) => ({ ...tool, maxOutputLength: 300 }));
    const environment = new Environment({
      workspaceDir,
      toolConfig: { customTools, mcpServers: [] },
      sessionScratchpadDir,
    });
    const { complete } = await run(environment, {
      toolCall: call("exec_command", { cmd: "cat a.txt", description: "Shows it." }),
    });
    expect(complete.stop_reason).toBe("completed");
    const [file = ""] = await readdir(join(sessionScratchpadDir, "truncated-tool-output"));
    expect(file).toMatch(/^exec_command-[0-9a-f]{16}\.log$/);
    expect(complete.output).toContain(
      `full text saved to ${join(sessionScratchpadDir, "truncated-tool-output", file)}]`,
    );
    expect(await readFile(join(sessionScratchpadDir, "truncated-tool-output", file), "utf8")).toBe(
      "hello\n".repeat(100),
    );
    await environment.dispose();
  });

  test("the tool is given workspace, call id, signal, approve and the application's context (PT-020 to PT-023, PC-061, PC-062)", async () => {
    const echo = new EchoTool();
    const toolContext = { user: "ada" };
    const approve: ApproveFn = async () => "allow";
    const environment = makeEnvironment({ tools: [echo], toolContext });
    await run(environment, { toolCall: call("echo", {}, "call_7"), approve, signal: new AbortController().signal });
    expect(echo.context).toEqual({
      workspaceDir: tmpdir(),
      toolCallId: "call_7",
      signal: expect.any(AbortSignal),
      approve,
      toolContext,
    });
    expect(echo.context?.approve).toBe(approve);
    await run(environment, { toolCall: call("echo") });
    expect(echo.context).not.toHaveProperty("approve");
  });

  test("an unknown tool, bad JSON and wrong arguments each end in one failed output, and nothing is thrown (PT-028, PC-056)", async () => {
    const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
    const echo = new EchoTool({ parameters });
    const environment = makeEnvironment({ tools: [echo] });
    const outputs = await Promise.all(
      [
        call("toString"),
        call(""),
        call("Echo"),
        call("echo", "{"),
        call("echo", { text: 5 }),
        call("echo", { text: null }),
      ].map(async (toolCall) => (await run(environment, { toolCall })).complete),
    );
    expect(outputs.map(({ stop_reason }) => stop_reason)).toEqual(Array(6).fill("failed"));
    expect(outputs.map(({ output }) => output)).toEqual([
      'no tool named "toString"; use one of echo',
      'no tool named ""; use one of echo',
      'no tool named "Echo"; use one of echo',
      expect.stringMatching(/^the arguments of echo are not JSON \(.*\); send the call again with one JSON object$/),
      "echo was not run; correct its arguments and call it again\ntext: must be a string, got 5",
      "echo was not run; correct its arguments and call it again\ntext: must be a string, got null",
    ]);
    expect(echo.args).toBeUndefined();
  });

  test("a throwing tool ends in one failed output (PT-028)", async () => {
    const tool: BuiltinTool = {
      name: "bad",
      definition: { name: "bad", description: "" },
      execute: () => {
        throw new Error("boom");
      },
    };
    const { complete } = await run(makeEnvironment({ tools: [tool] }), { toolCall: call("bad") });
    expect(complete).toMatchObject({ output: "[bad failed: boom]", stop_reason: "failed" });
  });

  test("an assessment is used as it is: its arguments run and its state comes back", async () => {
    const echo = Object.assign(new EchoTool(), { assessState: () => ({ sha256: "x" }) });
    const environment = makeEnvironment({ tools: [echo] });
    const toolCall = call("echo", { text: "hi" });
    const assessment = await environment.assessCall(toolCall);
    await run(environment, { toolCall, assessment });
    expect(echo.args).toBe(assessment.args);
    expect(echo.context?.state).toBe(assessment.state);
  });

  test("an assessment with an error runs nothing", async () => {
    const echo = new EchoTool();
    const environment = makeEnvironment({ tools: [echo] });
    const assessment = { ...(await environment.assessCall(call("echo"))), error: "not today" };
    const { complete } = await run(environment, { toolCall: call("echo"), assessment });
    expect(complete).toMatchObject({ output: "not today", stop_reason: "failed" });
    expect(echo.args).toBeUndefined();
  });

  test("arguments that replace the call's own are checked like them", async () => {
    const echo = new EchoTool({ parameters: { type: "object", properties: { n: { type: "integer" } } } });
    const environment = makeEnvironment({ tools: [echo] });
    await run(environment, { toolCall: call("echo", { n: 1 }), args: { n: "2" } });
    expect(echo.args).toEqual({ n: 2 });
    const { complete } = await run(environment, { toolCall: call("echo", { n: 1 }), args: { n: "two" } });
    expect(complete).toMatchObject({ stop_reason: "failed" });
  });

  test("arguments that replace the call's own and cannot be made JSON are a failed call, not a throw", async () => {
    const args: Record<string, unknown> = { n: 1n };
    const { complete } = await run(makeEnvironment({ tools: [new EchoTool()] }), { toolCall: call("echo"), args });
    expect(complete.stop_reason).toBe("failed");
    expect(complete.output).toContain("the arguments that replaced those of echo cannot be made JSON: ");
  });

  test("the definition in force sets cap and time-out (PC-074, PT-077, PT-079)", async () => {
    const environment = makeEnvironment({ tools: [new EchoTool({ maxOutputLength: 4 })] });
    const { complete } = await run(environment, { toolCall: call("echo", { text: "hello" }) });
    expect(complete.output).toBe('{"te\n[... 12 characters omitted ...]');
    const slow: BuiltinTool = {
      name: "slow",
      definition: { name: "slow", description: "", timeoutMs: 5 },
      async *execute(_, { signal }) {
        if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      },
    };
    const timedOut = await run(makeEnvironment({ tools: [slow] }), { toolCall: call("slow") });
    expect(timedOut.complete).toMatchObject({ output: "[timed out after 0.005 s]", stop_reason: "timeout" });
  });

  test("many calls under one signal run at once", async () => {
    const environment = makeEnvironment({ tools: [new EchoTool()] });
    const { signal } = new AbortController();
    const ids = Array.from({ length: 40 }, (_, i) => `call_${i}`);
    const outputs = await Promise.all(
      ids.map((id) => run(environment, { toolCall: call("echo", { id }, id), signal })),
    );
    expect(outputs.map(({ complete }) => complete.output)).toEqual(ids.map((id) => `{"id":"${id}"}`));
  });

  test("the environment prints nothing of its own (PC-060)", async () => {
    const written = [vi.spyOn(process.stdout, "write"), vi.spyOn(process.stderr, "write")];
    const environment = makeEnvironment({ tools: [new EchoTool()] });
    await environment.listTools();
    await run(environment, { toolCall: call("echo", { text: "hi" }) });
    await environment.dispose();
    for (const write of written) {
      expect(write).not.toHaveBeenCalled();
      write.mockRestore();
    }
  });

  test("a warning that nobody asked for is one line on standard error, with code and tool name only (PT-069)", async () => {
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    const notADirectory = join(await mkdtemp(join(tmpdir(), "rookery-scratch-")), "file");
    await writeFile(notADirectory, "");
    const environment = new Environment({
      workspaceDir: tmpdir(),
      toolConfig,
      tools: [new EchoTool({ maxOutputLength: 1 })],
      sessionScratchpadDir: notADirectory,
    });
    await run(environment, { toolCall: call("echo") });
    expect(write.mock.calls).toEqual([["rookery: the full output of echo was not saved: ENOTDIR (archive-failed)\n"]]);
    write.mockRestore();
  });

  test("a warning listener that throws does not end the call", async () => {
    const notADirectory = join(await mkdtemp(join(tmpdir(), "rookery-scratch-")), "file");
    await writeFile(notADirectory, "");
    const environment = makeEnvironment({
      tools: [new EchoTool({ maxOutputLength: 1 })],
      sessionScratchpadDir: notADirectory,
      onWarning: () => {
        throw new Error("no");
      },
    });
    expect((await run(environment, { toolCall: call("echo") })).complete.stop_reason).toBe("completed");
  });
});

describe("dispose", () => {
  test("sources, commands and child sessions are ended once, also when one of them fails (PC-055)", async () => {
    const warnings: unknown[] = [];
    const ended: string[] = [];
    const owned = (name: string) => ({
      dispose: async () => {
        ended.push(name);
        if (name === "commands") throw new Error("stuck");
      },
    });
    const environment = makeEnvironment({
      toolSources: [{ id: "s", tools: async () => [], ...owned("source") }],
      services: {
        commandSessions: Object.assign(new ProcessRegistry(), owned("commands")),
        subagentSessions: owned("subagents"),
      },
      onWarning: (warning) => warnings.push(warning),
    });
    await Promise.all([environment.dispose(), environment.dispose()]);
    await environment.dispose();
    expect(ended).toEqual(["source", "commands", "subagents"]);
    expect(warnings).toEqual([
      { code: "dispose-failed", message: "a part of the environment could not be ended: stuck" },
    ]);
  });
});

test("after a call that can change something a shell that waits is renewed, after a command or a reading call it is not", async () => {
  const commandSessions = Object.assign(new ProcessRegistry(), { renewShell: vi.fn() });
  const workspaceDir = await mkdtemp(join(tmpdir(), "rookery-renew-"));
  const environment = makeEnvironment({
    workspaceDir,
    toolConfig: { customTools: STANDARD_TOOLSET, mcpServers: [] },
    services: { commandSessions },
  });
  const after = async (name: string, args: object): Promise<number> => {
    await run(environment, { toolCall: call(name, { description: "d", ...args }) });
    return commandSessions.renewShell.mock.calls.length;
  };
  expect(await after("exec_command", { cmd: "echo a > f" })).toBe(0);
  expect(await after("read_file", { file_path: "f" })).toBe(0);
  expect(await after("no_such_tool", {})).toBe(0);
  expect(await after("write_file", { file_path: "g", content: "x" })).toBe(1);
  await environment.dispose();
});
