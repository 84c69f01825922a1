import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, expectTypeOf, onTestFinished, test } from "vitest";
import { callAgentTool } from "../../../../test/support/agent-tool-call.ts";
import { collectOutput } from "../../../../test/support/collect-output.ts";
import { isRunning, readPid } from "../../../../test/support/processes.ts";
import { modelMessage } from "../../../omnimessage/build.ts";
import { toBuiltinTool } from "../../adapt-agent-tool.ts";
import { Environment } from "../../environment.ts";
import { toolsetDefinitions } from "../../toolset-registry.ts";
import { type BashDetails, createBashTool } from "./bash.ts";

async function directory(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "bash-test-")));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

test("the tool runs a command outside any session and returns its output, the streams apart in details (PI-023, PI-024, PI-028, PI-029, PI-086)", async () => {
  const cwd = await directory();
  const tool = createBashTool({ cwd, timeout: 30, maxStdoutLines: 1000, maxStderrLines: 100 });
  const updates: unknown[] = [];
  const command = "pwd; echo oops >&2";
  const result = await tool.execute("run_123", { command }, undefined, (update) => updates.push(update));
  expect(result.details).toEqual({ command, cwd, exitCode: 0, stdout: `${cwd}\n`, stderr: "oops\n" });
  expect(result.content).toHaveLength(1);
  expect(result.content[0]).toMatchObject({ type: "text" });
  expect(JSON.stringify(result.content).includes("oops")).toBe(true);
  expect(result.isError).toBeUndefined();
  expect(updates.at(-1)).toMatchObject({ content: [{ type: "text" }] });
  expectTypeOf(result.details).toEqualTypeOf<BashDetails | undefined>();
  expectTypeOf<Parameters<typeof tool.execute>[1]>().toEqualTypeOf<{ command: string }>();
});

test("without cwd the process's own directory is taken", async () => {
  expect((await callAgentTool(createBashTool(), { command: "pwd" })).text).toBe(`${process.cwd()}\n`);
});

test("another exit code than 0 is an error result that names it", async () => {
  expect(await callAgentTool(createBashTool(), { command: "echo no; exit 3" })).toMatchObject({
    text: "no\n[exit code 3]",
    isError: true,
    details: { exitCode: 3 },
  });
  expect(await callAgentTool(createBashTool(), { command: "kill -9 $$" })).toMatchObject({
    text: "[killed by SIGKILL]",
    isError: true,
    details: { exitCode: null },
  });
});

test("each stream is cut after its own number of lines, in the text and in details (PI-026, PI-027)", async () => {
  const tool = createBashTool({ maxStdoutLines: 2, maxStderrLines: 1 });
  const cut = await callAgentTool(tool, { command: "seq 1 5; seq 6 9 >&2" });
  expect(cut.details).toMatchObject({ stdout: "1\n2\n", stderr: "6\n" });
  expect(cut.text.split("\n").sort()).toEqual([
    "1",
    "2",
    "6",
    "[stderr cut after 1 lines]",
    "[stdout cut after 2 lines]",
  ]);
  expect(cut.isError).toBe(false);
  const whole = await callAgentTool(tool, { command: "seq 1 2; echo a >&2" });
  expect(whole.details).toMatchObject({ stdout: "1\n2\n", stderr: "a\n" });
  expect(whole.text).not.toContain("cut after");
});

test("after timeout seconds the command is killed, and the call rejects with a TimeoutError (PI-025)", async () => {
  const running = createBashTool({ timeout: 0.2 }).execute("run_1", { command: "sleep 60" });
  await expect(running).rejects.toMatchObject({ name: "TimeoutError", message: "[timed out after 0.2 s]" });
  // Sixty of them are more than this takes, sixty milliseconds are less.
  expect((await callAgentTool(createBashTool({ timeout: 60 }), { command: "sleep 0.1; echo up" })).text).toBe("up\n");
});

test("in a session the tool's own timeout ends the call as timeout (PI-075)", async () => {
  const environment = new Environment({
    workspaceDir: "/",
    toolConfig: { customTools: [], mcpServers: [] },
    tools: [toBuiltinTool(createBashTool({ timeout: 0.2 }))],
  });
  const { complete } = await collectOutput(environment.executeTool({ toolCall: call("sleep 60") }));
  expect(complete).toMatchObject({ output: "[timed out after 0.2 s]", stop_reason: "timeout" });
});

test("an abort rejects with the signal's reason", async () => {
  const stop = new AbortController();
  const running = createBashTool().execute("run_1", { command: "echo up; sleep 60" }, stop.signal, () => stop.abort());
  await expect(running).rejects.toMatchObject({ name: "AbortError" });
  await expect(createBashTool().execute("run_1", { command: "true" }, AbortSignal.abort())).rejects.toThrow();
});

test("a listener that throws ends the command with the call", async () => {
  const cwd = await directory();
  const noRoom = (): never => {
    throw new Error("no room");
  };
  const running = createBashTool({ cwd }).execute("run_1", { command: "echo up; sleep 60" }, undefined, noRoom);
  await expect(running).rejects.toThrow("no room");
});

test.skipIf(process.platform !== "linux")(
  "a command that no session keeps leaves nothing behind its call, not what left its process group",
  async () => {
    const cwd = await directory();
    const command =
      "(setsid sh -c 'echo $$ > pid; exec sleep 300' &); until test -s pid; do sleep 0.02; done; echo done";
    const { text } = await callAgentTool(createBashTool({ cwd }), { command });
    expect(text).toBe("done\n");
    expect(await isRunning(await readPid(join(cwd, "pid")))).toBe(false);
  },
);

test.for([
  [{ command: " " }, "command is empty; give the shell command to run"],
  [{ command: "a\0b" }, "command holds a NUL byte, which no command can; remove it or print it with printf '\\0'"],
  [{}, "command is empty; give the shell command to run"],
] as const)("%j is not run, and says why", async ([params, text]) => {
  expect(await callAgentTool(createBashTool(), params)).toMatchObject({ text, isError: true });
});

test("a command is in no list of processes", async () => {
  const { text } = await callAgentTool(createBashTool(), { command: "pkill -f a-word-of-this-command; echo $?" });
  expect(text).toBe("1\n");
});

test("a directory that is not there is an error result", async () => {
  expect(await callAgentTool(createBashTool({ cwd: "/nowhere" }), { command: "true" })).toMatchObject({
    text: "cannot run in /nowhere: the directory does not exist; create it or name another",
    isError: true,
  });
});

test.for([{ timeout: 0 }, { timeout: Number.NaN }, { maxStdoutLines: -1 }, { maxStderrLines: "9" }])(
  "the option %j is refused",
  (options) => {
    const [name] = Object.keys(options);
    expect(() => createBashTool(options as object)).toThrow(`${name} must be a number above 0, got`);
  },
);

test("much output is kept at both ends: a quarter of a million characters of text, 25,000 of each stream", async () => {
  const { text, details } = await callAgentTool(createBashTool(), { command: "seq 1 300000" });
  const { stdout } = details as BashDetails;
  expect(text.startsWith("1\n2\n") && text.endsWith("\n300000\n")).toBe(true);
  expect(text).toMatch(/\n\[\.\.\. \d+ characters omitted \.\.\.\]\n/);
  expect(text.length).toBeLessThan(262_300);
  expect(stdout.startsWith("1\n2\n") && stdout.endsWith("\n300000\n")).toBe(true);
  expect(stdout.length).toBeLessThan(25_100);
});

test("in the toolset, commands run in the workspace, stream, and are stopped with what they said", async () => {
  const workspaceDir = await directory();
  const environment = new Environment({
    workspaceDir,
    toolset: "minimal",
    toolConfig: { customTools: toolsetDefinitions("minimal"), mcpServers: [] },
    vault: { TOKEN: "hunter2hunter2" },
  });
  const run = (command: string, signal?: AbortSignal) =>
    collectOutput(environment.executeTool({ toolCall: call(command), ...(signal && { signal }) }));
  expect((await run("pwd; echo $TOKEN")).complete).toMatchObject({
    output: `${workspaceDir}\n[vault:TOKEN]\n`,
    details: { cwd: workspaceDir, stdout: `${workspaceDir}\n[vault:TOKEN]\n`, stderr: "", exitCode: 0 },
  });
  expect(await environment.assessCall(call("git push"))).toMatchObject({
    risk: "process",
    summary: "git push",
    commandText: "git push",
  });
  await environment.dispose();
  expect((await run("true")).complete.stop_reason).toBe("aborted");
});

function call(command: string) {
  const payload = { type: "tool_call", role: "assistant", name: "bash", tool_call_id: "call_1" } as const;
  return modelMessage({ ...payload, arguments: JSON.stringify({ command }) });
}
