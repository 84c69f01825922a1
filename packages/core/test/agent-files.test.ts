import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import type { AgentOptions, SessionOptions } from "../src/agent/agent-options.ts";
import { addRules } from "../src/agent/edit-rules.ts";
import { agentPaths } from "../src/agent/paths.ts";
import type { EnvironmentConfig, ToolDefinitionConfig } from "../src/environment/contract.ts";
import { Environment } from "../src/environment/environment.ts";
import { BUILTIN_TOOL_FACTORIES, STANDARD_TOOLSET } from "../src/environment/tool-registry.ts";
import { userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import type { ToolDefinition } from "../src/omnimessage/message.ts";
import { replayTrace } from "../src/session/replay/replay-trace.ts";
import { type CollectedRun, collectRun, type ScriptedTurn, scriptedLLM, tempAgent } from "../src/testing/index.ts";

const allow = { approve: async () => "allow" as const };

interface Scene {
  readonly file: string;
  readonly warnings: string[];
  readonly workspaceDir: string;
  readonly agent: Awaited<ReturnType<typeof tempAgent>>["agent"];
  readonly root: string;
  /** Writes a file of the agent's state. */
  put(name: string, text: string): Promise<void>;
  /** Runs one task in a new session. */
  run(options?: SessionOptions, ...turns: ScriptedTurn[]): Promise<CollectedRun & { readonly prompt: string }>;
  /** What a new session offers. */
  offered(options?: SessionOptions): Promise<readonly ToolDefinition[]>;
}

async function scene(text?: string, options: AgentOptions = {}): Promise<Scene> {
  const warnings: string[] = [];
  const temp = await tempAgent({ onWarning: ({ message }) => warnings.push(message), ...options });
  onTestFinished(() => temp.dispose());
  const { agent, root, workspaceDir } = temp;
  const { agentStateDir, systemConfigFile: file } = agentPaths(root, "default_project", "default_agent");
  const put = async (name: string, content: string): Promise<void> => {
    await mkdir(dirname(join(agentStateDir, name)), { recursive: true });
    await writeFile(join(agentStateDir, name), content);
  };
  if (text !== undefined) await put("system_config.yaml", text);
  const run: Scene["run"] = async (more = {}, ...turns) => {
    const llm = scriptedLLM(...(turns.length === 0 ? ["ok"] : turns));
    const session = await agent.createSession({ workspaceDir, createLLM: () => llm, ...more });
    return { ...(await collectRun(session, [userText("Go")], allow)), prompt: session.meta.system_prompt };
  };
  const offered: Scene["offered"] = async (more) =>
    ofType((await run(more)).trace, "tool_list_ready").at(-1)?.payload.tools ?? [];
  return { file, warnings, workspaceDir, agent, root, put, run, offered };
}

const namesOf = (tools: readonly { readonly name: string }[]): string[] => tools.map(({ name }) => name);
const shipped = (...names: string[]): ToolDefinitionConfig[] =>
  STANDARD_TOOLSET.filter(({ name }) => names.includes(name));
const builtin = (definitions: readonly ToolDefinitionConfig[]): string =>
  stringify({ tools: { builtin: definitions } }, { aliasDuplicateObjects: false });
const forTextOnly = STANDARD_TOOLSET.filter(({ forModel }) => forModel !== "vision");

const SEED = `tools:
  # Writing builtin replaces the default toolset wholesale.
  builtin:
    - name: exec_command
      description: Run a shell command in the workspace.
      permission: rw
      call_description: false
      timeoutMs: 120000
      maxOutputLength: 16000
      parameters:
        type: object
        properties:
          description: { type: string, description: What the call is doing. }
          cmd: { type: string }
        required: [description, cmd]
  mcpServers: []
`;

test("the seed's file gives a session exactly one tool, without the argument description, and stays as it is (PT-191, PT-089)", async () => {
  const { file, run, warnings } = await scene(SEED);
  const before = await stat(file);
  const { trace, messages } = await run({}, { calls: [{ name: "exec_command", args: { cmd: "echo hi" } }] }, "done");
  expect(ofType(trace, "tool_list_ready").map(({ payload }) => payload.tools)).toEqual([
    [
      {
        name: "exec_command",
        description: "Run a shell command in the workspace.",
        parameters: { type: "object", properties: { cmd: { type: "string" } }, required: ["cmd"] },
        permission: "rw",
      },
    ],
  ]);
  expect(ofType(messages, "tool_call_output")[0]?.payload).toMatchObject({ stop_reason: "completed" });
  expect(ofType(messages, "tool_call_output")[0]?.payload.output).toMatch(/^hi\n/);
  expect(await readFile(file, "utf8")).toBe(SEED);
  expect((await stat(file)).mtimeMs).toBe(before.mtimeMs);
  expect(warnings).toEqual([]);
});

test("the argument description stands in an entry's parameters like any other: kept where it is written, and put nowhere else (PT-083)", async () => {
  const without = SEED.replace(/ {10}description: .*\n/, "").replace("[description, cmd]", "[cmd]");
  const written = async (text: string): Promise<unknown> => (await (await scene(text)).offered())[0]?.parameters;
  const switchedOn = (text: string): string => text.replace("      call_description: false\n", "");
  expect(await written(switchedOn(SEED))).toMatchObject({
    properties: { description: { description: "What the call is doing." }, cmd: { type: "string" } },
    required: ["description", "cmd"],
  });
  expect(await written(switchedOn(without))).toEqual({
    type: "object",
    properties: { cmd: { type: "string" } },
    required: ["cmd"],
  });
});

test("without tools.builtin the toolset is whole, with it only what is listed exists (PT-186, PT-187)", async () => {
  for (const text of [undefined, "", "max_turns: 9\n", "tools: { mcpServers: [] }\n"]) {
    expect(namesOf(await (await scene(text)).offered())).toEqual(namesOf(forTextOnly));
  }
  const { run, offered } = await scene(builtin(shipped("read_file", "write_file")));
  expect(namesOf(await offered())).toEqual(["read_file", "write_file"]);
  const { messages } = await run({}, { calls: [{ name: "exec_command", args: { cmd: "echo hi" } }] }, "done");
  expect(ofType(messages, "tool_call_output")[0]?.payload).toMatchObject({
    output: 'no tool named "exec_command"; use one of read_file, write_file',
    stop_reason: "failed",
  });
  expect(await (await scene("tools: { builtin: [] }\n")).offered()).toEqual([]);
});

test("nothing of the shipped definition is added to a listed one: not its schema, its limits or its permission (PT-188)", async () => {
  const configs: EnvironmentConfig[] = [];
  const createEnvironment = (config: EnvironmentConfig): Environment => {
    configs.push(config);
    return new Environment(config);
  };
  const entry = { name: "read_file", description: "Reads." };
  const { offered, run, workspaceDir } = await scene(builtin([entry]), { createEnvironment });
  expect(await offered()).toEqual([{ ...entry, parameters: { type: "object", properties: {} }, permission: "r" }]);
  expect(configs[0]?.toolConfig.customTools).toEqual([entry]);
  // The shipped limit is 64000 characters; what no definition says is 16000.
  await writeFile(join(workspaceDir, "long.txt"), `${"x".repeat(99)}\n`.repeat(400));
  const { messages } = await run({}, { calls: [{ name: "read_file", args: { file_path: "long.txt" } }] }, "done");
  expect(ofType(messages, "tool_call_output")[0]?.payload.output.length).toBeLessThan(20_000);
});

test("what a schema adds beyond the shipped one reaches the handler: exec_command with tty", async () => {
  const parameters = { type: "object", properties: { cmd: { type: "string" }, tty: { type: "boolean" } } };
  const { run } = await scene(builtin(shipped("exec_command").map((tool) => ({ ...tool, parameters }))));
  const args = { cmd: "test -t 1 && echo terminal || echo none", tty: true };
  const { messages } = await run({}, { calls: [{ name: "exec_command", args }] }, "done");
  expect(ofType(messages, "tool_call_output")[0]?.payload.output).toMatch(/terminal|node-pty/);
});

test("a written list stays what it is beside newer default tools, and a definition added by hand is there in the next session (PT-014, PT-015)", async () => {
  const old = shipped("exec_command", "read_file", "edit_file", "write_file");
  expect(STANDARD_TOOLSET.length).toBeGreaterThan(old.length);
  const { put, offered } = await scene(builtin(old));
  expect(namesOf(await offered())).toEqual(namesOf(old));
  await put("system_config.yaml", builtin([...old, ...shipped("input_command")]));
  expect(namesOf(await offered())).toEqual([...namesOf(old), "input_command"]);
});

test("a tool is added by a BuiltinTool from a factory, and by an entry in tools.builtin (PC-108)", async () => {
  const made = BUILTIN_TOOL_FACTORIES.read_file?.(
    { name: "read_file", description: "Made." },
    {
      workspaceDir: "/",
      toolConfig: { customTools: [], mcpServers: [] },
    },
  );
  const { run, workspaceDir } = await scene(builtin(shipped("write_file")), { tools: made ? [made] : [] });
  const { messages, trace } = await run(
    {},
    { calls: [{ name: "write_file", args: { file_path: "a.txt", content: "both\n" } }] },
    { calls: [{ name: "read_file", args: { file_path: "a.txt" } }] },
    "done",
  );
  expect(namesOf(ofType(trace, "tool_list_ready")[0]?.payload.tools ?? [])).toEqual(["write_file", "read_file"]);
  expect(ofType(messages, "tool_call_output")[1]?.payload.output).toContain("both");
  expect(await readFile(join(workspaceDir, "a.txt"), "utf8")).toBe("both\n");
});

test("a toolset that is asked for goes before the agent's, whose list holds in its own toolset only", async () => {
  const entry = { name: "bash", description: "Runs.", parameters: { type: "object", properties: {} } };
  const { offered, agent, workspaceDir } = await scene(`toolset: minimal\n${builtin([entry])}`);
  expect(namesOf(await offered())).toEqual(["bash"]);
  expect(namesOf(await offered({ toolset: "minimal" }))).toEqual(["bash"]);
  expect(namesOf(await offered({ toolset: "standard" }))).toEqual(namesOf(forTextOnly));
  const runner = await agent.createToolRunner({ workspaceDir });
  expect(await runner.listTools()).toMatchObject([entry]);
  const asAgentOption = await scene(builtin(shipped("read_file")), { toolset: "minimal" });
  expect(namesOf(await asAgentOption.offered())).toEqual(["bash", "read", "write", "edit"]);
  expect(namesOf(await (await scene("toolset: minimal\n")).offered())).toEqual(["bash", "read", "write", "edit"]);
});

test("a listed tool is offered to the models that its entry names", async () => {
  const { offered } = await scene(builtin(shipped("read_image", "describe_image")));
  expect(namesOf(await offered())).toEqual(["describe_image"]);
  expect(namesOf(await offered({ vision: true }))).toEqual(["read_image"]);
});

test("an entry can ask for approval of a reading tool, and cannot spare it to a riskier one", async () => {
  const definitions = shipped("read_file", "write_file").map((tool) => ({
    ...tool,
    permission: tool.name === "read_file" ? ("rw" as const) : ("r" as const),
  }));
  const { offered, warnings } = await scene(builtin(definitions));
  expect((await offered()).map(({ permission }) => permission)).toEqual(["rw", "rw"]);
  expect(warnings).toEqual(["permission r of the tool write_file has no effect: its risk is filesystem"]);
});

test("deny rules hold for listed tools whatever their schema says", async () => {
  const bare = { name: "write_file", description: "Writes." };
  const { run, root, workspaceDir } = await scene(builtin([bare]));
  await addRules(agentPaths(root, "default_project", "default_agent").projectConfigFile, [{ deny: { path: "a.txt" } }]);
  const args = { file_path: "a.txt", content: "x" };
  const { messages } = await run({}, { calls: [{ name: "write_file", args }] }, "done");
  expect(ofType(messages, "tool_call_output")[0]?.payload.output).toMatch(/^Tool call forbidden by policy\./);
  await expect(stat(join(workspaceDir, "a.txt"))).rejects.toThrow("ENOENT");
});

test("MCP servers reach whatever makes the environment as they are written, and are one warning for each session (PT-189)", async () => {
  const configs: EnvironmentConfig[] = [];
  const mcpServers = [
    { name: "files", config: { command: "npx", args: ["-y", "files"] } },
    { name: "web", config: { url: "https://mcp.example" } },
  ];
  const { run, file, warnings } = await scene(stringify({ tools: { mcpServers } }), {
    createEnvironment: (config) => {
      configs.push(config);
      return new Environment(config);
    },
  });
  await run({}, { calls: [{ name: "exec_command", args: { cmd: "true" } }] }, "done");
  expect(configs[0]?.toolConfig.mcpServers).toEqual(mcpServers);
  expect(warnings).toEqual([`MCP servers cannot be connected yet; those that ${file} names have no tools: files, web`]);
});

test("editing system_config.yaml, AGENTS.md or a skill changes the next session and no other (PC-110)", async () => {
  const { put, run, offered, agent, workspaceDir } = await scene();
  const before = await run();
  const open = await agent.createSession({ workspaceDir, createLLM: () => scriptedLLM("ok") });
  await put("system_config.yaml", builtin(shipped("read_file")));
  await put("AGENTS.md", "Answer in Latin.\n");
  await put("skills/sums/SKILL.md", "---\nname: sums\ndescription: Adds.\n---\nAdd them.\n");
  expect(before.prompt).not.toContain("Latin");
  expect(namesOf(await offered())).toEqual(["read_file", "read_skill"]);
  expect((await run()).prompt).toContain("Agent instructions:\n\nAnswer in Latin.");
  const { trace } = await collectRun(open, [userText("Go")]);
  expect(namesOf(ofType(trace, "tool_list_ready")[0]?.payload.tools ?? [])).toEqual(
    expect.arrayContaining(namesOf(forTextOnly)),
  );
  await put("AGENTS.md", "Answer in Greek.\n");
  await put("system_config.yaml", builtin(shipped("write_file")));
  await put("skills/sums/SKILL.md", "---\nname: sums\ndescription: Multiplies.\n---\nMultiply them.\n");
  const { prompt, trace: next } = await run({}, { calls: [{ name: "read_skill", args: { name: "sums" } }] }, "done");
  expect(prompt).toContain("Answer in Greek.");
  expect(prompt).not.toContain("Latin");
  expect(namesOf(ofType(next, "tool_list_ready")[0]?.payload.tools ?? [])).toEqual(["write_file", "read_skill"]);
  expect(ofType(next, "tool_call_output")[0]?.payload.output).toContain("Multiply them.");
});

test("the agent's AGENTS.md stands before the workspace's, cut where it is long, and left out where a prompt is given", async () => {
  const { put, run, workspaceDir } = await scene();
  await writeFile(join(workspaceDir, "AGENTS.md"), "Of the workspace.");
  await put("AGENTS.md", `Of the agent.\n${"y".repeat(40_000)}`);
  const { prompt } = await run();
  expect(prompt.indexOf("Of the agent.")).toBeLessThan(
    prompt.indexOf("The workspace's AGENTS.md:\n\nOf the workspace."),
  );
  expect(prompt).toContain("[cut after 32768 bytes; read the file for the rest]");
  expect(prompt.length).toBeLessThan(36_000);
  expect((await run({ systemPrompt: "Mine." })).prompt).toBe("Mine.");
});

test("max_turns limits a task, and the caller's limit goes before it", async () => {
  const { run } = await scene("max_turns: 1\n");
  const turns = [{ calls: [{ name: "read_file", args: { file_path: "none" } }] }, "done"];
  expect((await run({}, ...turns)).outcome).toMatchObject({ status: "failed", code: "max-turns", turns: 1 });
  expect((await run({ maxTurns: 2 }, ...turns)).outcome).toMatchObject({ status: "completed" });
  expect((await run({ maxTurns: 0 }, ...turns)).outcome).toMatchObject({ status: "completed" });
});

test("a replay goes to the end of its record, whatever the agent's limit is today", async () => {
  const { run, put, agent, workspaceDir } = await scene();
  const { trace } = await run({}, { calls: [{ name: "read_file", args: { file_path: "none" } }] }, "done");
  await put("system_config.yaml", "max_turns: 1\n");
  const replay = replayTrace(trace, { agent, workspaceDir });
  let step = await replay.next();
  while (!step.done) step = await replay.next();
  expect(step.value.outcomes).toMatchObject([{ status: "completed", turns: 2 }]);
});

test("the agent's compaction goes before the project's key by key, and the caller's before both", async () => {
  const { run, put, root } = await scene("compaction: { max_context_length: 1000 }\n");
  const { projectConfigFile } = agentPaths(root, "default_project", "default_agent");
  await writeFile(projectConfigFile, "compaction: { max_context_length: 0, mode: discard, keep_output_tokens: -1 }\n");
  // Where a context is discarded, that waits for the end of the task.
  const full = { text: "done", usage: { total: 1000 } };
  const modes = async (options?: SessionOptions): Promise<string[]> =>
    ofType((await run(options, full)).trace, "compaction_begin").map(({ payload }) => payload.mode);
  expect(await modes()).toEqual(["discard"]);
  expect(await modes({ compaction: { maxContextTokens: 5000 } })).toEqual([]);
  await put("system_config.yaml", "compaction: { mode: summarize }\n");
  expect(await modes()).toEqual([]);
});

test("a resumed session has the tools and limits of now", async () => {
  const { agent, workspaceDir, put } = await scene(builtin(shipped("read_file")));
  const first = await agent.createSession({ workspaceDir, createLLM: () => scriptedLLM("ok") });
  await collectRun(first, [userText("Go")]);
  await first.dispose();
  await put("system_config.yaml", `max_turns: 1\n${builtin(shipped("write_file"))}`);
  const llm = scriptedLLM({ calls: [{ name: "read_file", args: { file_path: "a" } }] }, "done");
  const resumed = await agent.resumeSession(first.sessionId, { createLLM: () => llm });
  const { trace, outcome } = await collectRun(resumed, [userText("Go")], allow);
  expect(ofType(trace, "tool_list_ready").map(({ payload }) => namesOf(payload.tools))).toEqual([
    ["read_file"],
    ["write_file"],
  ]);
  expect(outcome).toMatchObject({ code: "max-turns" });
});

test("a broken file stops sessions, their resumption and tool runners with one error, and leaves nothing behind", async () => {
  const { agent, workspaceDir, put, file } = await scene();
  const session = await agent.createSession({ workspaceDir, createLLM: () => scriptedLLM("ok") });
  await collectRun(session, [userText("Go")]);
  await session.dispose();
  await put("system_config.yaml", "max_turn: 1\n");
  const broken = {
    code: "config-invalid",
    message: `${file}:1: max_turn is not a known key`,
    hint: "did you mean max_turns?",
  };
  const createLLM = (): ReturnType<typeof scriptedLLM> => scriptedLLM("ok");
  await expect(agent.createSession({ workspaceDir, createLLM })).rejects.toMatchObject(broken);
  await expect(agent.resumeSession(session.sessionId, { createLLM })).rejects.toMatchObject(broken);
  await expect(agent.createToolRunner({ workspaceDir })).rejects.toMatchObject(broken);
  expect(await agent.listSessions()).toHaveLength(1);
  await put("system_config.yaml", "");
  await (await agent.resumeSession(session.sessionId, { createLLM })).dispose();
});
