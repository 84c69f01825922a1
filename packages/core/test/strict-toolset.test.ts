import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentSource } from "../src/agent/native-agents/agent-source.ts";
import { ProcessRegistry } from "../src/environment/process/process-registry.ts";
import { toolsetDefinitions } from "../src/environment/toolset-registry.ts";
import { userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import { collectRun, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { executables } from "./support/fake-executable.ts";
import { isRunning, readPid } from "./support/processes.ts";
import { gatedTool } from "./support/test-tools.ts";
import { type ToolsetCalls, toolsetCalls } from "./support/toolset-calls.ts";

const allow = async () => "allow" as const;

test("the toolset strict is read, write, bash and three agents, complete for a whole task", async () => {
  const PATH = await executables(["claude"]);
  const llm = scriptedLLM(
    { calls: [{ name: "write", args: { path: "src/app.ts", content: "const x = 1\n", mode: "create" } }] },
    { calls: [{ name: "write", args: { path: "src/app.ts", content: "const x = 2\n", mode: "replace" } }] },
    { calls: [{ name: "read", args: { path: "src/app.ts", offset: 6 } }] },
    { calls: [{ name: "bash", args: { command: "wc -l < src/app.ts" } }] },
    { calls: [{ name: "agent_claude", args: { prompt: "Review it." } }] },
    "Done.",
  );
  await using temp = await tempAgent({ createLLM: () => llm, toolset: "strict", env: { PATH } });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { messages, trace } = await collectRun(session, [userText("Go")], { approve: allow });
  const listed = ofType(trace, "tool_list_ready")[0]?.payload.tools.map(({ name, permission }) => [name, permission]);
  expect(listed).toEqual([
    ["read", "r"],
    ["write", "rw"],
    ["bash", "rw"],
    ["agent_claude", "rw"],
    ["agent_codex", "rw"],
    ["agent_pi", "rw"],
  ]);
  const outputs = ofType(messages, "tool_call_output").map(({ payload }) => payload.output);
  expect(outputs.slice(0, 4)).toEqual([
    "Created src/app.ts (1 line, 12 bytes)",
    "Overwrote src/app.ts (1 line, 12 bytes)\n--- a/src/app.ts\n+++ b/src/app.ts\n@@ -1 +1 @@\n-const x = 1\n+const x = 2",
    "x = 2\n[bytes 6–12 of 12]",
    expect.stringMatching(/^\s*1\n\[exit code 0\]$/),
  ]);
  expect(JSON.parse(outputs[4]?.split("\n")[0] ?? "")).toMatchObject({
    argv: ["-p", "Review it."],
    cwd: temp.workspaceDir,
  });
});

test("its calls run one after another, those of added tools and whatever the host says (PE-002)", async () => {
  const slow = gatedTool("slow");
  const calls = [
    { name: "bash", args: { command: "sleep 0.1; echo 1 >>log" } },
    { name: "bash", args: { command: "echo 2 >>log" } },
    { name: "slow", args: { key: "a" } },
    { name: "slow", args: { key: "b" } },
    { name: "read", args: { path: "log" } },
  ];
  const options = { toolset: "strict", toolExecution: "parallel", tools: [slow.tool] } as const;
  await using temp = await tempAgent({ createLLM: () => scriptedLLM({ calls }, "ok"), ...options });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir, ...options, tools: [] });
  const { messages } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(await readFile(join(temp.workspaceDir, "log"), "utf8")).toBe("1\n2\n");
  expect([slow.mostAtOnce(), slow.ended]).toEqual([1, ["a", "b"]]);
  expect(ofType(messages, "tool_call_output").at(-1)?.payload.output).toBe("1\n2\n[bytes 0–4 of 4]");
});

test("the signal, the workspace, the time-out and the output limit of a tool are those that its host gives (PE-003)", async () => {
  const limited = (limits: object) => ({
    toolConfig: { customTools: toolsetDefinitions("strict").map((tool) => ({ ...tool, ...limits })), mcpServers: [] },
  });
  const { dir, call } = await toolsetCalls("strict", limited({ maxOutputLength: 40 }));
  await writeFile(join(dir, "f"), "x".repeat(100));
  expect((await call("bash", { command: "pwd | head -c 40" })).output).toContain(dir.slice(0, 40));
  expect((await call("read", { path: "f" })).output).toBe(
    `${"x".repeat(40)}\n[... 60 characters omitted ...]\n[bytes 0–100 of 100]`,
  );
  const short = await toolsetCalls("strict", limited({ timeoutMs: 300 }));
  expect(await short.call("bash", { command: "sleep 60" })).toMatchObject({
    output: "[timed out after 0.3 s]",
    stopReason: "timeout",
  });
  const signal = AbortSignal.abort();
  for (const [name, args] of [
    ["read", { path: "f" }],
    ["write", { path: "g", content: "", mode: "create" }],
    ["bash", { command: "touch g" }],
  ] as const) {
    expect((await call(name, args, { signal })).stopReason).toBe("aborted");
  }
  expect((await call("read", { path: "g" })).stopReason).toBe("failed");
});

/** `bash`, and an agent whose prompt is a script of bash, so that both can be told to do the same. */
async function shellAndAgent(): Promise<ToolsetCalls> {
  const commandSessions = new ProcessRegistry();
  const host = { commandSessions, env: process.env, configFile: "config.yaml" };
  const source = agentSource("configured", { sh: { executable: "/bin/bash", args: ["-c"] } }, host);
  return await toolsetCalls("strict", { toolSources: [source], services: { commandSessions } });
}

const both = [
  ["bash", "command"],
  ["agent_sh", "prompt"],
] as const;

test.for(both)(
  "of %s the end of a long output is kept, its exit status told, and its group is its own (PE-040, PE-050)",
  async ([name, key]) => {
    const { call } = await shellAndAgent();
    const long = await call(name, { [key]: "seq 1 20000; echo err >&2; exit 3" });
    expect(long.output).toMatch(
      /^1\n2\n[\s\S]*\n\[\.\.\. \d+ characters omitted \.\.\.\]\n[\s\S]*\n20000\n[\s\S]*\[exit code 3\]$/,
    );
    expect([long.output.length < 16_200, long.stopReason, long.details.exitCode]).toEqual([true, "failed", 3]);
    expect((await call(name, { [key]: 'test "$(ps -o pgid= -p $$)" -eq $$' })).stopReason).toBe("completed");
  },
);

test.for(both)(
  "at its deadline %s is killed at once, what it said until then stays (PE-023, PE-040, PE-050)",
  async ([name, key]) => {
    const { call } = await shellAndAgent();
    const script = "trap 'echo term' TERM; echo up; while :; do sleep 0.2; done";
    const { output, stopReason } = await call(name, { [key]: script, timeout_seconds: 0.7 });
    expect([output, stopReason]).toEqual([expect.stringMatching(/^(up\n)?\[timed out after 0.7 s\]$/), "timeout"]);
  },
);

test.for(both)(
  "cancelled, %s gets TERM and may clean up, and nothing of it is left, nor of what left its group (PE-040, PE-050)",
  async ([name, key]) => {
    const { dir, call } = await shellAndAgent();
    const stop = new AbortController();
    const script =
      "trap 'echo cleaned; exit 5' TERM; setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $! >escaped; echo $$ >pid; sleep 300 & wait; wait";
    const running = call(name, { [key]: script }, { signal: stop.signal });
    const pids = [await readPid(join(dir, "pid")), await readPid(join(dir, "escaped"))];
    stop.abort();
    const { output, stopReason } = await running;
    expect([output, stopReason]).toEqual([expect.stringMatching(/(^|\n)cleaned\n\[interrupted\]$/), "aborted"]);
    const left = await Promise.all(pids.map(isRunning));
    expect(left).toEqual([false, process.platform !== "linux"]);
  },
);

test.for(both)(
  "a background child of %s holds neither the call nor the pipe, and is gone afterwards (PE-040, PE-050)",
  async ([name, key]) => {
    const { dir, call } = await shellAndAgent();
    const { output } = await call(name, { [key]: "sleep 300 & echo $! >pid; echo done" });
    expect(output).toBe("done\n[exit code 0]");
    expect(await isRunning(await readPid(join(dir, "pid")))).toBe(false);
  },
);

const namesOf = async (temp: Awaited<ReturnType<typeof tempAgent>>, toolset: string): Promise<string[]> => {
  const runner = await temp.agent.createToolRunner({ workspaceDir: temp.workspaceDir, toolset });
  return (await runner.listTools()).map(({ name }) => name).filter((name) => name.startsWith("agent_"));
};

test("agents of the person's configuration join strict and standard, the shipped ones are in strict alone, and minimal has none", async () => {
  await using temp = await tempAgent();
  expect(await namesOf(temp, "strict")).toEqual(["agent_claude", "agent_codex", "agent_pi"]);
  expect(await namesOf(temp, "standard")).toEqual([]);
  await mkdir(temp.root, { recursive: true });
  await writeFile(join(temp.root, "config.yaml"), "native_agents: { aider: { executable: aider } }\n", { mode: 0o600 });
  expect(await namesOf(temp, "strict")).toEqual(["agent_claude", "agent_codex", "agent_pi", "agent_aider"]);
  expect(await namesOf(temp, "standard")).toEqual(["agent_aider"]);
  expect(await namesOf(temp, "minimal")).toEqual([]);
});

test("neither the project's configuration nor a file of the workspace says what an agent is (PE-035, PE-048)", async () => {
  const PATH = await executables(["claude"]);
  await using temp = await tempAgent({ toolset: "strict", env: { PATH } });
  const { agent, root, workspaceDir } = temp;
  const evil = "native_agents: { claude: { executable: /bin/false } }\n";
  for (const place of [".", ".rookery", ".agents"]) {
    await mkdir(join(workspaceDir, place), { recursive: true });
    await writeFile(join(workspaceDir, place, "config.yaml"), evil);
  }
  const runner = await agent.createToolRunner({ workspaceDir });
  const shown: string[] = [];
  const approve = async (_call: unknown, { summary }: { summary: string }) => {
    shown.push(summary);
    return "deny" as const;
  };
  for await (const _ of runner.call("agent_claude", '{"prompt":"hi"}', { approve }));
  expect(shown).toEqual([expect.stringContaining(`start the agent claude: "${PATH}/claude" "-p" PROMPT\n`)]);
  await mkdir(join(root, "default_project"), { recursive: true });
  await writeFile(join(root, "default_project/project_config.yaml"), evil);
  await expect(agent.createToolRunner({ workspaceDir })).rejects.toMatchObject({
    code: "config-invalid",
    message: expect.stringContaining("native_agents is not a known key"),
  });
});

test("a broken configuration of the person's is an error of the session that names file and line", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM() });
  const { agent, root, workspaceDir } = temp;
  await mkdir(root, { recursive: true });
  await writeFile(join(root, "config.yaml"), "native_agents:\n  claude: { executable: ./claude }\n");
  const broken = {
    code: "config-invalid",
    message: expect.stringContaining(`${root}/config.yaml:2: native_agents.claude`),
  };
  await expect(agent.createSession({ workspaceDir })).rejects.toMatchObject(broken);
  await expect(agent.createToolRunner({ workspaceDir })).rejects.toMatchObject(broken);
});
