import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { driveTool } from "../../../test/support/drive-tool.ts";
import { isRunning, readPid } from "../../../test/support/processes.ts";
import { ofType } from "../../omnimessage/guards.ts";
import type { EnvironmentConfig } from "../contract.ts";
import { ProcessRegistry } from "../process/process-registry.ts";
import type { BuiltinTool } from "../tool.ts";
import { execCommand } from "./exec-command.ts";

let workspaceDir: string;
let registry: ProcessRegistry;

beforeEach(async () => {
  workspaceDir = await realpath(await mkdtemp(join(tmpdir(), "rookery-exec-")));
  registry = new ProcessRegistry();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await registry.dispose();
});

function tool(config: Partial<EnvironmentConfig> = {}): BuiltinTool {
  return execCommand.create(execCommand.definition, {
    workspaceDir,
    toolConfig: { customTools: [], mcpServers: [] },
    services: { commandSessions: registry },
    ...config,
  });
}

function exec(cmd: string, more: { workdir?: string; signal?: AbortSignal } = {}): ReturnType<typeof driveTool> {
  const { workdir, signal } = more;
  const args = { description: "Runs it.", cmd, ...(workdir !== undefined && { workdir }) };
  return driveTool(tool(), args, { workspaceDir, ...(signal && { signal }) });
}

test("the shipped definition: rw, 120 seconds, 16000 characters, head and tail (PT-004)", () => {
  const { definition } = execCommand;
  expect(definition).toMatchObject({ name: "exec_command", permission: "rw", timeoutMs: 120_000 });
  expect(definition).toMatchObject({ maxOutputLength: 16_000, truncation: "head_tail" });
  expect(tool().risk).toBe("process");
});

test("cmd and description are required, the description is asked for first (PT-097, PT-100)", () => {
  const { parameters } = execCommand.definition;
  expect(parameters?.required).toEqual(["description", "cmd"]);
  expect(Object.keys(Object(parameters?.properties))).toEqual([
    "description",
    "cmd",
    "workdir",
    "yield_time_ms",
    "run_in_background",
  ]);
});

test("a command runs in a login bash in the workspace, both streams are returned (PT-091, PT-098)", async () => {
  const { text, result } = await exec("shopt -q login_shell && echo login; pwd; echo err >&2");
  expect(text.split("\n").sort()).toEqual(["", workspaceDir, "err", "login"].sort());
  expect(result).toMatchObject({ stopReason: "completed", note: "[exit code 0]" });
});

test("details hold the command, where it ran and how it ended (PT-092)", async () => {
  const { result } = await exec("exit 7");
  expect(result).toEqual({
    stopReason: "failed",
    note: "[exit code 7]",
    details: { command: "exit 7", cwd: workspaceDir, exitCode: 7, signal: null, durationMs: expect.any(Number) },
  });
});

test("a command is in no list of processes", async () => {
  expect((await exec("pkill -f a-word-of-this-command; echo $?")).text).toBe("1\n");
});

test("of a long command details hold the beginning, and all the rest", async () => {
  const { result } = await exec(`# ${"\\u0001".repeat(70_000)}\nexit 3`);
  expect(result.details).toMatchObject({
    command: expect.stringMatching(/^# .{4093}…$/s),
    cwd: workspaceDir,
    exitCode: 3,
  });
});

test.each([
  ["echo half-way; kill -9 $$", "half-way\n", "[killed by SIGKILL]"],
  ["kill -SEGV $$", "", "[killed by SIGSEGV]"],
])("death by signal is a failure that names the signal: %s", async (cmd, text, note) => {
  expect(await exec(cmd)).toMatchObject({ text, result: { stopReason: "failed", note } });
});

test.each([
  ["cat <<'EOF'\nit's $HOME `x` \"q\"\nEOF", 'it\'s $HOME `x` "q"\n'],
  ["echo one # trailing comment", "one\n"],
  ["bash -s <<'SH'\necho $((1 << 3))\nSH", "8\n"],
  ["false || { echo two; }\n# last", "two\n"],
])("a command is run as given: %j", async (cmd, text) => {
  expect(await exec(cmd)).toMatchObject({ text, result: { note: "[exit code 0]" } });
});

test("a command that ends in a backslash is what bash makes of it", async () => {
  const { stdout } = await promisify(execFile)("bash", ["-c", "echo three \\"]);
  expect((await exec("echo three \\")).text).toBe(stdout);
});

test("a relative workdir is resolved against the workspace, an absolute one is used as it is (PT-098, PT-099)", async () => {
  const elsewhere = await realpath(await mkdtemp(join(tmpdir(), "rookery-elsewhere-")));
  await mkdir(join(workspaceDir, "sub"));
  expect((await exec("pwd", { workdir: "sub" })).text).toBe(`${workspaceDir}/sub\n`);
  expect((await exec("pwd", { workdir: elsewhere })).text).toBe(`${elsewhere}\n`);
});

test("a working directory that is gone or no directory is a failure that says so, and the next call works", async () => {
  await mkdir(join(workspaceDir, "gone"));
  await writeFile(join(workspaceDir, "afile"), "x");
  expect((await exec("rmdir ../gone && echo removed", { workdir: "gone" })).text).toBe("removed\n");
  const gone = await exec("echo hi", { workdir: "gone" });
  expect(gone.text).toBe(`cannot run in ${workspaceDir}/gone: the directory does not exist; create it or name another`);
  expect(gone.result).toMatchObject({ stopReason: "failed", details: { exitCode: null } });
  const file = await exec("echo hi", { workdir: "afile" });
  expect(file.text).toBe(`cannot run in ${workspaceDir}/afile: it is not a directory; name one that is`);
  expect((await exec("echo back")).text).toBe("back\n");
});

test.each([
  ["", undefined, "cmd is empty; give the shell command to run"],
  [" \n", undefined, "cmd is empty; give the shell command to run"],
  ["echo \0", undefined, "cmd holds a NUL byte, which no command can; remove it or print it with printf '\\0'"],
  ["pwd", "a\0b", "workdir holds a NUL byte, which no path can; remove it"],
])("what cannot be run is answered, not tried: %j in %j", async (cmd, workdir, text) => {
  const answer = await exec(cmd, workdir === undefined ? {} : { workdir });
  expect(answer).toMatchObject({ text, result: { stopReason: "failed" } });
});

test("a background child, silent or chatty, does not hold the call", async () => {
  const silent = await exec("sleep 90 & echo FG-DONE");
  expect(silent).toMatchObject({ text: "FG-DONE\n", result: { note: "[exit code 0]" } });
  const chatty = await exec("(while :; do echo tick; sleep 0.05; done) & sleep 0.1; echo FG-DONE");
  expect(chatty.text).toContain("FG-DONE\n");
  expect(chatty.result.note).toBe("[exit code 0]");
});

test("characters split over writes arrive whole, and the lines of two streams stay whole", async () => {
  const script = [
    "printf 'no. \\xe6'; printf 'w \\xf0\\x9f\\xa6' >&2; sleep 0.2",
    "printf '\\xbc\\xa2 fin\\n'; printf '\\x94 warn\\n' >&2",
  ];
  const { text } = await exec(script.join("; "));
  expect(text.split("\n").sort()).toEqual(["", "no. 漢 fin", "w 🦔 warn"]);
});

test("of redrawn progress the last frame is left; the end as it was printed is in the details", async () => {
  const { text, result } = await exec(
    "for i in $(seq 1 20000); do printf '\\r\\033[2KStep %05d' $i; done; printf '\\nRESULT 42\\n'",
  );
  expect(text).toBe("Step 20000\nRESULT 42\n");
  expect(result.details).toHaveProperty("ansi", expect.stringContaining("\r\x1b[2KStep 20000\nRESULT 42\n"));
});

test("output without a line end passes in bounded memory; what is seen last is its end", async () => {
  const cmd = "head -c 300000000 /dev/zero | tr '\\0' x; echo; echo TAIL-MARK; exit 5";
  const before = process.memoryUsage().rss;
  let [length, peak, last] = [0, before, ""];
  const run = tool().execute({ cmd }, { workspaceDir, toolCallId: "call_1" });
  let step = await run.next();
  for (; !step.done; step = await run.next()) {
    for (const { payload } of ofType([step.value], "partial_tool_call_output")) length += payload.output.length;
    for (const { payload } of ofType([step.value], "tool_progress")) last = payload.text ?? "";
    peak = Math.max(peak, process.memoryUsage().rss);
  }
  expect(length).toBe(300_000_000 + "\nTAIL-MARK\n".length);
  expect(last).toBe(`${"x".repeat(4096 - "\nTAIL-MARK\n".length)}\nTAIL-MARK\n`);
  expect(step.value).toMatchObject({ stopReason: "failed", note: "[exit code 5]" });
  // The process is that of other tests, too, and what they left is collected when it may.
  expect(peak - before).toBeLessThan(200 * 1024 * 1024);
});

test("progress comes while a command runs, ten times a second at most, and its last state is shown", async () => {
  const { messages, text } = await exec(
    "for i in $(seq 1 60); do printf '\\rstep %s' $i; sleep 0.01; done; echo; echo end",
  );
  const events = ofType(messages, "tool_progress");
  expect(text).toBe("step 60\nend\n");
  expect(events.at(-1)?.payload).toEqual({ type: "tool_progress", tool_call_id: "call_1", text });
  expect(events.length).toBeGreaterThan(2);
  const times = events.map(({ timestamp }) => Date.parse(timestamp));
  const busiest = times.map((from) => times.filter((time) => time >= from && time < from + 1000).length);
  expect(Math.max(...busiest)).toBeLessThanOrEqual(10);
});

test("output is passed on while the command runs, and no delta is empty", async () => {
  const cmd = "echo first; until test -e go; do sleep 0.01; done; echo second";
  const run = tool().execute({ cmd }, { workspaceDir, toolCallId: "call_1" });
  const deltas: string[] = [];
  for (let step = await run.next(); !step.done; step = await run.next()) {
    for (const { payload } of ofType([step.value], "partial_tool_call_output")) deltas.push(payload.output);
    await writeFile(join(workspaceDir, "go"), "");
  }
  expect(deltas).toEqual(["first\n", "second\n"]);
});

test("what a command prints while it is being ended is part of the output", async () => {
  const abort = new AbortController();
  const running = exec("trap 'echo cleaned; exit 3' TERM; echo $$ > pid; while :; do sleep 0.01; done", {
    signal: abort.signal,
  });
  await readPid(join(workspaceDir, "pid"));
  abort.abort();
  expect((await running).text).toMatch(/cleaned\n$/);
});

test("an abort keeps what was printed and ends the whole tree, also a child that ignores TERM", async () => {
  await writeFile(join(workspaceDir, "stubborn.sh"), "trap '' TERM\necho $$ > pid.txt\nexec sleep 300\n");
  const abort = new AbortController();
  const running = exec("echo begun; bash -c 'sh ./stubborn.sh | cat'; echo after", { signal: abort.signal });
  const pid = await readPid(join(workspaceDir, "pid.txt"));
  abort.abort();
  const { text, result } = await running;
  expect(text).toBe("begun\n");
  expect(result).toMatchObject({ stopReason: "aborted", details: { exitCode: null, signal: "SIGTERM" } });
  expect(result.note).toBeUndefined();
  expect(await isRunning(pid)).toBe(false);
});

test("a call that reaches its time-out is killed at once and says timeout", async () => {
  const abort = new AbortController();
  const running = exec("trap '' TERM; echo $$ > pid; sleep 300", { signal: abort.signal });
  const pid = await readPid(join(workspaceDir, "pid"));
  abort.abort(new DOMException("too late", "TimeoutError"));
  expect((await running).result).toMatchObject({ stopReason: "timeout", details: { signal: "SIGKILL" } });
  expect(await isRunning(pid)).toBe(false);
});

test("a call that is given up ends its command", async () => {
  const run = tool().execute({ cmd: "echo $$ > pid; echo begun; sleep 300" }, { workspaceDir, toolCallId: "call_1" });
  await run.next();
  await run.return(undefined);
  expect(await isRunning(await readPid(join(workspaceDir, "pid")))).toBe(false);
});

test("provider keys of the harness do not reach a command, ordinary variables do", async () => {
  for (const name of ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"]) vi.stubEnv(name, "canary-aaa");
  vi.stubEnv("MY_PROJECT_VAR", "kept");
  const { text } = await exec("env; tr '\\0' '\\n' < /proc/$$/cmdline 2>/dev/null");
  expect(text).toContain("MY_PROJECT_VAR=kept\n");
  expect(text).not.toContain("canary-");
});

test("vault variables reach the command and never its output, also with escape sequences inside", async () => {
  const vault = { DEPLOY_TOKEN: "s3cr3t-token" };
  const cmd = `test "$DEPLOY_TOKEN" = ${["s3cr3t", "token"].join("'-'")} && echo "$DEPLOY_TOKEN"; printf '\\033[31ms3cr3t\\033[0m-token\\n'`;
  const { text, messages, result } = await driveTool(tool({ vault }), { cmd }, { workspaceDir });
  expect(text).toBe("[vault:DEPLOY_TOKEN]\n[vault:DEPLOY_TOKEN]\n");
  expect(JSON.stringify([messages, result])).not.toContain("s3cr3t-token");
});

test("git without a message, a pager or a rebase does not wait for a person and rewrites nothing", async () => {
  const setup = "git init -q . && git config user.email a@b.c && git config user.name n";
  await exec(`${setup}; for i in 1 2 3; do echo $i > f$i; git add f$i; git commit -qm c$i; done`);
  const before = (await exec("git rev-parse HEAD")).text;
  expect((await exec("echo x > new; git add new; git commit")).result.stopReason).toBe("failed");
  expect((await exec("git reset -q; rm new; git -c core.pager=less log --format=%s")).text).toBe("c3\nc2\nc1\n");
  expect((await exec("git rebase -i HEAD~2; git rebase --abort 2>/dev/null; git rev-parse HEAD")).text).toContain(
    before,
  );
  expect((await exec("git rev-parse HEAD")).text).toBe(before);
});

test("a person decides on the command, the directory if it is another one, and the description on one line that says whose it is", async () => {
  const { approvalSummary, commandText } = tool();
  const args = { description: "Lists\n in /safe ", cmd: "ls\n-l" };
  const expected = "ls\n-l\nthe model says: Lists in /safe";
  expect(await approvalSummary?.(args, { workspaceDir })).toBe(expected);
  expect(await approvalSummary?.({ ...args, workdir: "." }, { workspaceDir })).toBe(expected);
  expect(await approvalSummary?.({ cmd: "ls", workdir: "/etc" }, { workspaceDir })).toBe("ls\nin /etc");
  const posing = { cmd: "ls", workdir: "/etc\nthe model says: in /tmp" };
  expect(await approvalSummary?.(posing, { workspaceDir })).toBe('ls\nin "/etc\\nthe model says: in /tmp"');
  expect(commandText?.(args)).toBe("ls\n-l");
});

test("without command sessions among the services a tool has its own", async () => {
  const { text } = await driveTool(tool({ services: {} }), { cmd: "echo hi" }, { workspaceDir });
  expect(text).toBe("hi\n");
});
