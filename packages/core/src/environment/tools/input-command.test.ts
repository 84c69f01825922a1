import { mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { driveTool } from "../../../test/support/drive-tool.ts";
import { isRunning, readPid } from "../../../test/support/processes.ts";
import { allowingRules, denyingRule } from "../../approval/match-rules.ts";
import { ofType } from "../../omnimessage/guards.ts";
import type { EnvironmentConfig, ToolResult } from "../contract.ts";
import { Environment } from "../environment.ts";
import { ProcessRegistry } from "../process/process-registry.ts";
import type { BuiltinTool, BuiltinToolModule } from "../tool.ts";
import { STANDARD_TOOLSET } from "../tool-registry.ts";
import { execCommand } from "./exec-command.ts";
import { inputCommand } from "./input-command.ts";

type Answer = Awaited<ReturnType<typeof driveTool>>;

const STILL_RUNNING =
  /^\[still running; process_id: (proc-[0-9a-f]{8}); read on, answer or stop it with input_command\]$/;

let workspaceDir: string;
let registry: ProcessRegistry;

beforeEach(async () => {
  workspaceDir = await realpath(await mkdtemp(join(tmpdir(), "rookery-input-")));
  registry = new ProcessRegistry();
});

afterEach(() => registry.dispose());

function tool(module: BuiltinToolModule, config: Partial<EnvironmentConfig> = {}): BuiltinTool {
  return module.create(module.definition, {
    workspaceDir,
    toolConfig: { customTools: [], mcpServers: [] },
    services: { commandSessions: registry },
    ...config,
  });
}

function exec(cmd: string, args: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Answer> {
  return driveTool(
    tool(execCommand),
    { cmd, yield_time_ms: 1500, ...args },
    { workspaceDir, ...(signal && { signal }) },
  );
}

function input(id: string, args: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Answer> {
  const context = { workspaceDir, ...(signal && { signal }) };
  return driveTool(tool(inputCommand), { process_id: id, ...args }, context);
}

/** Starts a command in the background, and returns its id. */
async function background(cmd: string): Promise<string> {
  return idOf((await exec(cmd, { run_in_background: true })).result);
}

function idOf({ note = "" }: ToolResult): string {
  const [, id = ""] = STILL_RUNNING.exec(note) ?? [];
  expect(note).toMatch(STILL_RUNNING);
  return id;
}

/** Reads on until the output matches or the command has ended. */
async function readUntil(id: string, wanted: RegExp): Promise<Answer> {
  let text = "";
  for (;;) {
    const answer = await input(id, { yield_time_ms: 250 });
    text += answer.text;
    if (wanted.test(text) || !STILL_RUNNING.test(answer.result.note ?? "")) return { ...answer, text };
  }
}

test("the shipped definition: rw, 130 seconds, 16000 characters, head and tail (PT-005)", () => {
  const { definition } = inputCommand;
  expect(definition).toMatchObject({ name: "input_command", permission: "rw", timeoutMs: 130_000 });
  expect(definition).toMatchObject({ maxOutputLength: 16_000, truncation: "head_tail" });
  expect(tool(inputCommand).risk).toBe("process");
});

test("process_id and description are required, the description is asked for first (PT-081, PT-082, PT-084, PT-100, PT-101)", () => {
  for (const { definition } of [execCommand, inputCommand]) {
    const { properties, required } = definition.parameters as {
      properties: Record<string, object>;
      required: string[];
    };
    expect(Object.keys(properties)[0]).toBe("description");
    expect(properties.description).toMatchObject({ type: "string", description: expect.stringContaining("first") });
    expect(required).toEqual(["description", definition === execCommand.definition ? "cmd" : "process_id"]);
  }
});

test("a command that outlives its window goes on, and its id leads to the rest and to its exit code (PT-093, PT-103, PT-107)", async () => {
  const first = await exec("echo one; until test -e go; do sleep 0.01; done; echo two; exit 4");
  expect(first).toMatchObject({ text: "one\n", result: { details: { cwd: workspaceDir } } });
  expect(first.result.stopReason ?? "completed").toBe("completed");
  const id = idOf(first.result);
  expect(first.result.details).toHaveProperty("process_id", id);
  const poll = await input(id, { chars: "", yield_time_ms: 250 });
  expect([poll.text, idOf(poll.result)]).toEqual(["", id]);
  await writeFile(join(workspaceDir, "go"), "");
  const last = await input(id);
  expect(last).toMatchObject({ text: "two\n", result: { stopReason: "failed", note: "[exit code 4]" } });
  expect(last.result.details).toMatchObject({ process_id: id, exitCode: 4, signal: null });
});

test("a prompt without a newline is seen and answered, and afterwards the call says how the command ended (PT-102)", async () => {
  const id = await background("printf 'Name? '; read n; printf 'hi %s\\n' \"$n\"; exit 4");
  expect((await readUntil(id, /\? /)).text).toBe("Name? ");
  const answered = await input(id, { chars: "Zoë 🙂\n" });
  const rest = STILL_RUNNING.test(answered.result.note ?? "") ? await readUntil(id, /never/) : undefined;
  expect(answered.text + (rest?.text ?? "")).toBe("hi Zoë 🙂\n");
  expect((rest ?? answered).result).toMatchObject({ stopReason: "failed", note: "[exit code 4]" });
  const gone = await input(id, { chars: "" });
  expect(gone.text).toBe(`${id} has ended with exit code 4; there is nothing more to read`);
  expect(gone.result.stopReason).toBe("failed");
});

test("after writing a call waits for 250 ms by default, for output alone 5000 ms (PT-105, PT-106)", async () => {
  const id = await background("sleep 2; echo late; exit 3");
  expect((await input(id, { chars: "x" })).text).toBe("");
  expect(await input(id)).toMatchObject({ text: "late\n", result: { note: "[exit code 3]" } });
});

test("run_in_background returns the id at once, and the output comes with the first poll", async () => {
  const { text, result } = await exec("echo up; exec sleep 300", { run_in_background: true });
  expect(text).toBe("");
  expect((await readUntil(idOf(result), /up/)).text).toBe("up\n");
});

test("a background command that cannot be started is a failure at once, without an id", async () => {
  const { text, result } = await exec("true", { run_in_background: true, workdir: "nowhere" });
  expect(text).toContain("the directory does not exist");
  expect(result).toMatchObject({ stopReason: "failed" });
  expect(result.details).not.toHaveProperty("process_id");
});

test("Ctrl-C interrupts the foreground command and lets a shell that traps it go on (PT-104, PT-108)", async () => {
  const trapped = await background("trap 'echo caught' INT; echo ready; sleep 300; echo after");
  await readUntil(trapped, /ready/);
  const caught = await input(trapped, { chars: "\u0003", yield_time_ms: 2000 });
  expect(caught).toMatchObject({ text: "caught\nafter\n", result: { note: "[exit code 0]" } });
  const plain = await background("echo ready; sleep 300; echo after");
  await readUntil(plain, /ready/);
  const killed = await input(plain, { chars: "\u0003", yield_time_ms: 2000 });
  expect(killed).toMatchObject({ text: "", result: { stopReason: "failed", note: "[killed by SIGINT]" } });
});

test.skipIf(process.platform !== "linux")("Ctrl-C reaches a program in a process group of its own", async () => {
  const id = await background("timeout 60 sh -c 'echo ready; exec sleep 300'; echo $?");
  await readUntil(id, /ready/);
  const { text, result } = await input(id, { chars: "\u0003", yield_time_ms: 2000 });
  expect(text + result.note).not.toMatch(STILL_RUNNING);
  expect(result.note).toMatch(/^\[(killed by SIGINT|exit code \d+)\]$/);
});

test("Ctrl-C among other characters is refused, and nothing is sent", async () => {
  const id = await background("read line; echo got $line");
  const { text, result } = await input(id, { chars: "yes\u0003\n" });
  expect(text).toBe(
    "nothing was sent: Ctrl-C (\\u0003) among other characters has no meaning in a pipe; send \\u0003 alone",
  );
  expect(result.stopReason).toBe("failed");
  expect((await input(id, { chars: "yes\n", yield_time_ms: 2000 })).text).toBe("got yes\n");
});

test("the end of input can be sent, and what is sent after it is said to be lost", async () => {
  const id = await background("cat; echo end; until test -e go; do sleep 0.01; done");
  await input(id, { chars: "a\n" });
  await input(id, { chars: "\u0004" });
  const late = await input(id, { chars: "more\n" });
  expect(late.result.note).toMatch(/^\[nothing was sent: the command has closed its standard input\]\n\[still running/);
});

test("a command that closes its input survives being written to", async () => {
  const id = await background("exec 0<&-; echo ready; until test -e go; do sleep 0.01; done; echo fine");
  await readUntil(id, /ready/);
  for (let i = 0; i < 3; i++) await input(id, { chars: "x\n", yield_time_ms: 250 });
  await writeFile(join(workspaceDir, "go"), "");
  expect(await readUntil(id, /fine/)).toMatchObject({ text: "fine\n" });
});

test("an abort ends the poll only: the command goes on (PT-107)", async () => {
  const id = await background("echo $$ > pid; exec sleep 300");
  const pid = await readPid(join(workspaceDir, "pid"));
  const abort = new AbortController();
  const poll = input(id, { yield_time_ms: 60_000 }, abort.signal);
  abort.abort();
  expect(idOf((await poll).result)).toBe(id);
  expect(await isRunning(pid)).toBe(true);
});

test.each([
  ["proc-00000000", 'no command session is named "proc-00000000"; none is there; start one with exec_command'],
  ["", 'no command session is named ""; none is there; start one with exec_command'],
])("an id that is not there is explained: %j", async (id, text) => {
  expect(await input(id)).toMatchObject({ text, result: { stopReason: "failed" } });
});

test("for an id that never was, those that are there are named", async () => {
  const id = await background("sleep 300");
  expect((await input("proc-1")).text).toBe(`no command session is named "proc-1"; use one of ${id}`);
});

test("a character written in two pieces arrives whole, also when a call ends between them", async () => {
  const script = "printf 'no. \\xe6'; until test -e go; do sleep 0.01; done; printf '\\xbc\\xa2 fin\\n'";
  const id = await background(script);
  const first = await readUntil(id, /no/);
  await writeFile(join(workspaceDir, "go"), "");
  const second = await input(id);
  expect([first.text, second.text]).toEqual(["no. ", "漢 fin\n"]);
});

test("of progress that is redrawn between two polls each shows the state it has reached", async () => {
  const wait = (file: string) => `until test -e ${file}; do sleep 0.01; done`;
  const first = await exec(
    `printf '10%%'; ${wait("a")}; printf '\\r20%%\\r30%%'; ${wait("b")}; printf '\\r99%%\\ndone\\n'; ${wait("c")}`,
  );
  const id = idOf(first.result);
  await writeFile(join(workspaceDir, "a"), "");
  const second = await readUntil(id, /30/);
  await writeFile(join(workspaceDir, "b"), "");
  const third = await readUntil(id, /done/);
  expect([first.text, second.text, third.text]).toEqual(["10%", "30%", "99%\ndone\n"]);
  expect(ofType(third.messages, "tool_progress").at(-1)?.payload.text).toBe("10%\n30%\n99%\ndone\n");
});

test("what was printed before a poll is shown as progress by the poll, once", async () => {
  const id = await background("printf half; exec sleep 300");
  await expect.poll(() => registry.sessions.peek(id)?.printed, { timeout: 10_000 }).toBe(1);
  const poll = (): Promise<Answer> => input(id, { yield_time_ms: 250 });
  const [first, second] = [await poll(), await poll()].map(({ messages }) => ofType(messages, "tool_progress"));
  expect(first?.map(({ payload }) => payload.text)).toEqual(["half"]);
  expect(second).toEqual([]);
});

test("what nobody read is bounded: the newest stays and the rest is counted (PT-045)", async () => {
  const id = await background("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo END; exec sleep 300");
  const registered = registry.sessions.peek(id);
  await expect.poll(() => registered?.snapshot().endsWith("END\n")).toBe(true);
  const { text } = await input(id, { yield_time_ms: 250 });
  expect(text).toMatch(/^\[\.\.\., 1951429 chars of earlier output dropped \.\.\.\]\nx+\nEND\n$/);
});

test("vault values reach a driven command and never its output, across polls too (PC-065)", async () => {
  const vault = { DEPLOY_TOKEN: "s3cr3t-token" };
  const script =
    "read go; printf 'half s3cr'; read go; printf '3t-token\\n'; test \"$DEPLOY_TOKEN\" = 's3cr'3t-token && echo same";
  const started = await driveTool(
    tool(execCommand, { vault }),
    { cmd: script, run_in_background: true },
    { workspaceDir },
  );
  const id = idOf(started.result);
  const first = await input(id, { chars: "\n" });
  const second = await input(id, { chars: "\n", yield_time_ms: 2000 });
  expect(first.text + second.text).toBe("half [vault:DEPLOY_TOKEN]\nsame\n");
  expect(JSON.stringify([first, second])).not.toMatch(/s3cr(?!'|3t-token\\\\n)/);
});

test("a person decides on what is sent and to which command; what is written is there for policy and rules", async () => {
  const id = await background("bash");
  const { approvalSummary, commandText } = tool(inputCommand);
  const args = { process_id: id, chars: "rm -rf /\n" };
  expect(await approvalSummary?.(args, { workspaceDir })).toBe(`send "rm -rf /\\n": ${id}\nwhich runs: bash`);
  expect(commandText?.(args)).toBe("eval rm -rf /\n");
  const ctrlC = { process_id: id, chars: "\u0003" };
  expect([commandText?.(ctrlC), commandText?.({ process_id: id })]).toEqual([undefined, undefined]);
  expect(await approvalSummary?.(ctrlC, { workspaceDir })).toBe(`send Ctrl-C: ${id}\nwhich runs: bash`);
  expect(await approvalSummary?.({ process_id: "proc-1" }, { workspaceDir })).toBe("read on: proc-1");
});

test("environments that are given the same command sessions share them, others have their own (PC-068)", async () => {
  const make = (services?: EnvironmentConfig["services"]) =>
    new Environment({
      workspaceDir,
      toolConfig: { customTools: [execCommand.definition, inputCommand.definition], mcpServers: [] },
      ...(services && { services }),
    });
  const [one, two, other] = [{ commandSessions: registry }, { commandSessions: registry }, undefined].map(make);
  const started = await callTool(one, "exec_command", { cmd: "cat", run_in_background: true });
  const [, id = ""] = /process_id: (proc-\w+)/.exec(started) ?? [];
  const said = await callTool(two, "input_command", { process_id: id, chars: "hello\n", yield_time_ms: 1000 });
  expect(said).toMatch(/^hello\n\[still running/);
  expect(await callTool(other, "input_command", { process_id: id })).toContain("no command session is named");
  await Promise.all([one, two, other].map((environment) => environment?.dispose()));
});

test("call_description: false takes the description out of the schema of a command tool, and out of nothing else (PT-088)", async () => {
  const { description: _, ...rest } = Object(inputCommand.definition.parameters?.properties);
  const environment = new Environment({
    workspaceDir,
    toolConfig: { customTools: [{ ...inputCommand.definition, call_description: false }], mcpServers: [] },
  });
  const [offered] = await environment.listTools();
  expect(offered?.parameters).toEqual({ type: "object", properties: rest, required: ["process_id"] });
  await environment.dispose();
});

test("the file tools have no description argument (PT-090)", () => {
  const files = STANDARD_TOOLSET.filter(({ name }) => ["read_file", "edit_file", "write_file"].includes(name));
  expect(files).toHaveLength(3);
  for (const { parameters } of files) expect(Object.keys(Object(parameters?.properties))).not.toContain("description");
});

async function callTool(environment: Environment | undefined, name: string, args: object): Promise<string> {
  const payload = {
    type: "tool_call",
    role: "assistant",
    name,
    tool_call_id: "c",
    arguments: JSON.stringify(args),
  } as const;
  const toolCall = { timestamp: new Date().toISOString(), type: "model_msg", payload } as const;
  let output = "";
  for await (const message of environment?.executeTool({ toolCall }) ?? []) {
    for (const { payload } of ofType([message], "tool_call_output")) output = payload.output;
  }
  return output;
}

test("rules that allow a command do not allow typing it into a program, and rules that deny it deny that too", () => {
  const { commandText } = tool(inputCommand);
  for (const chars of ["git log\n", "cd x\ngit log\n", "'git' log"]) {
    const call = { tool: "input_command", workspace: workspaceDir, commandText: commandText?.({ chars }) ?? "" };
    const rules = (effect: "allow" | "deny") => ["git", "cd", "eval"].map((command) => ({ [effect]: { command } }));
    expect(allowingRules(rules("allow"), call)).toBeUndefined();
    expect(denyingRule([{ deny: { command: "git log" } }], call)).toBeDefined();
  }
});
