import {
  type ApprovalContext,
  eventMessage,
  modelMessage,
  type OmniMessage,
  RookeryError,
  type ToolCallPayload,
} from "@rookery/core";
import { expect, test } from "vitest";
import { type AgentScript, fakeAgent, outcome } from "../../test/support/fake-agent.ts";
import { type FakeIo, fakeIo, written } from "../../test/support/fake-io.ts";
import { rookery } from "../rookery.ts";

const delta = (text: string): OmniMessage =>
  modelMessage({ type: "partial_text", role: "assistant", event_type: "delta", text });
const call: OmniMessage<ToolCallPayload> = modelMessage({
  type: "tool_call",
  role: "assistant",
  name: "probe",
  arguments: "{}",
  tool_call_id: "call_1",
});
const context = (permission: "r" | "rw"): ApprovalContext => ({
  summary: "s",
  risk: permission === "r" ? "read_only" : "process",
  permission,
  workspace: "/",
});
/** Says hello and completes. */
const hello: NonNullable<AgentScript["run"]> = async function* () {
  yield delta("hello");
  return outcome({ text: "hello" });
};
/** Runs until it is interrupted. */
const endless: NonNullable<AgentScript["run"]> = async function* (_input, { signal }) {
  yield delta("working");
  await new Promise((resolve) => signal?.addEventListener("abort", resolve));
  return outcome({ status: signal?.reason?.name === "TimeoutError" ? "timeout" : "aborted" });
};

test("a run prints the model's text, disposes of everything, and exits 0", async () => {
  const io = fakeIo({ cwd: "/tmp" });
  const agent = fakeAgent({ run: hello });
  expect(await rookery(["run", "say hi"], io, agent)).toBe(0);
  expect(io.out()).toBe("hello\n");
  expect(agent.log.map(([name]) => name)).toEqual(["createAgent", "createSession", "agent disposed"]);
  expect(agent.log[1]).toEqual(["createSession", { workspaceDir: "/tmp" }]);
});

test("the flags reach the agent and the session", async () => {
  const agent = fakeAgent({ run: hello });
  const flags =
    "--model hub/org/m --client-type openai-chat --base-url http://127.0.0.1:1/v1 --agent a --project p --root /r " +
    "--workspace sub --thinking high --max-turns 3 --timeout 60";
  expect(await rookery(["run", ...flags.split(" "), "x"], fakeIo({ cwd: "/tmp" }), agent)).toBe(0);
  expect(agent.log[0]).toEqual(["createAgent", expect.objectContaining({ root: "/r", projectId: "p", agentId: "a" })]);
  expect(agent.log[1]).toEqual([
    "createSession",
    {
      provider: "hub",
      modelId: "org/m",
      clientType: "openai-chat",
      baseUrl: "http://127.0.0.1:1/v1",
      workspaceDir: "/tmp/sub",
      thinkingLevel: "high",
      maxTurns: 3,
    },
  ]);
});

test("--provider with --model-id is the same pair", async () => {
  const agent = fakeAgent({ run: hello });
  await rookery(["run", "--provider", "hub", "--model-id", "org/m", "x"], fakeIo(), agent);
  expect(agent.log[1]?.[1]).toMatchObject({ provider: "hub", modelId: "org/m" });
});

test("a prompt that begins with --- is one behind --", async () => {
  let input: readonly OmniMessage[] = [];
  const agent = fakeAgent({
    async *run(messages) {
      input = messages;
      yield delta("");
      return outcome();
    },
  });
  expect(await rookery(["run", "--", "--- title\ntext"], fakeIo(), agent)).toBe(0);
  expect(input).toMatchObject([{ payload: { type: "text", role: "user", text: "--- title\ntext" } }]);
});

test.each([
  [["--provider", "a"], 'the provider "a" came without a model id; give both, as --model PROVIDER/MODEL_ID'],
  [["--model-id", "a"], 'the model id "a" came without a provider; give both, as --model PROVIDER/MODEL_ID'],
  [
    ["--provider", "a", "--model-id", "b c"],
    'the model\'s name "a/b c" has blanks or control characters; write it as the provider does, without them',
  ],
  [["--model", "a/b", "--provider", "a"], "--model came together with --provider or --model-id; use one form"],
  [["--model", "gpt-5"], '--model must be PROVIDER/MODEL_ID, got "gpt-5"; write it like openai/gpt-5 or local/qwen3'],
  [["--file", "a", "--file", "b"], "--file was given more than once; give one"],
  [["--approve", "always"], '--approve does not know "always"; use one of allow-all, read-only, always-ask, deny-all'],
  [["--thinking", "max"], '--thinking does not know "max"; use one of none, low, medium, high, xhigh'],
  [["--output", "yaml"], '--output does not know "yaml"; use one of text, json, stream-json'],
  [
    ["--max-turns", "1.5"],
    '--max-turns must be a whole number above 0, got "1.5"; give a number above 0 and up to 1000000',
  ],
  [
    ["--max-turns", ".5"],
    '--max-turns must be a whole number above 0, got ".5"; give a number above 0 and up to 1000000',
  ],
  [
    ["--max-turns", "0"],
    '--max-turns must be a whole number above 0, got "0"; give a number above 0 and up to 1000000',
  ],
  [["--timeout", "2m"], '--timeout must be a number of seconds, got "2m"; give a number above 0 and up to 2147483'],
  [
    ["--timeout", "9999999"],
    '--timeout must be a number of seconds, got "9999999"; give a number above 0 and up to 2147483',
  ],
])("%j is a usage error before anything is started (PT-173)", async (flags, message) => {
  const io = fakeIo();
  const agent = fakeAgent({ run: hello });
  expect(await rookery(["run", ...flags, "x"], io, agent)).toBe(2);
  expect(io.err()).toBe(`rookery: ${message}\n`);
  expect(agent.log).toEqual([]);
});

test("json is one object at the end, with the session and its trace", async () => {
  const io = fakeIo();
  expect(await rookery(["run", "x", "--output", "json"], io, fakeAgent({ run: hello }))).toBe(0);
  expect(JSON.parse(io.out())).toEqual({
    ...outcome({ text: "hello" }),
    session_id: "session-1",
    trace: "/traces/001.jsonl",
  });
});

test("a run that failed says so in json too", async () => {
  const io = fakeIo();
  const agent = fakeAgent({
    async *run() {
      yield delta("x");
      return outcome({ status: "auth", message: "the key was refused" });
    },
  });
  expect(await rookery(["run", "x", "--output", "json"], io, agent)).toBe(3);
  expect(JSON.parse(io.out())).toMatchObject({
    status: "auth",
    error: {
      code: "auth",
      message: "the key was refused",
      hint: "set CUSTOM_API_KEY, or store a key with rookery config model add custom/local",
    },
    session_id: "session-1",
  });
});

test("stream-json is the messages and nothing else on standard output", async () => {
  const io = fakeIo();
  const messages = [eventMessage({ type: "request_begin" }), delta("line\u2028\x1b[2J"), call];
  const agent = fakeAgent({
    async *run() {
      yield* messages;
      return outcome({ status: "failed", code: "max-turns" });
    },
  });
  expect(await rookery(["run", "x", "--output", "stream-json"], io, agent)).toBe(1);
  const lines = io.out().split("\n");
  expect(lines.pop()).toBe("");
  expect(lines.map((line) => JSON.parse(line))).toEqual(messages);
  expect(io.err()).toBe("");
});

test.each([
  ["model-auth", 3],
  ["model-missing", 2],
  ["workspace-missing", 2],
  ["root-unwritable", 2],
] as const)("a failure before the run, %s, exits %d in every form of output", async (code, exitCode) => {
  const failure = new RookeryError(code, "it is so", { hint: "do this" });
  const text = fakeIo();
  const agent = fakeAgent({ failure });
  expect(await rookery(["run", "x"], text, agent)).toBe(exitCode);
  expect(text.err()).toBe("rookery: it is so; do this\n");
  expect(agent.log.at(-1)).toEqual(["agent disposed"]);
  const stream = fakeIo();
  expect(await rookery(["run", "x", "--output", "stream-json"], stream, fakeAgent({ failure }))).toBe(exitCode);
  expect([stream.out(), stream.err()]).toEqual(["", "rookery: it is so; do this\n"]);
  const json = fakeIo();
  expect(await rookery(["run", "x", "--output", "json"], json, fakeAgent({ failure }))).toBe(exitCode);
  expect(JSON.parse(json.out())).toEqual({ status: "failed", error: { code, message: "it is so", hint: "do this" } });
});

test("every call is allowed unless --approve says otherwise (PT-174)", async () => {
  expect(await decisions([])).toEqual(["allow", "allow"]);
  expect(await decisions(["--approve", "allow-all"])).toEqual(["allow", "allow"]);
  expect(await decisions(["--approve", "deny-all"])).toEqual(["deny", "deny"]);
});

test("without a terminal nobody can answer, and what the mode leaves to a person is denied (PT-173)", async () => {
  expect(await decisions(["--approve", "read-only"])).toEqual(["allow", "deny"]);
  expect(await decisions(["--approve", "always-ask"])).toEqual(["deny", "deny"]);
});

test("at a terminal the person is asked, and nothing is printed over the question (PT-177)", async () => {
  const io = fakeIo({ isTTY: true, env: { NO_COLOR: "1" } });
  let decision: unknown;
  const agent = fakeAgent({
    async *run(_input, { approve }) {
      const asked = approve?.(call, context("rw"));
      yield delta("after");
      decision = await asked;
      return outcome();
    },
  });
  const running = rookery(["run", "x", "--approve", "always-ask"], io, agent);
  await written(io.err, "Type y to allow");
  expect(io.out()).toBe("");
  io.stdin.write("y\n");
  expect(await running).toBe(0);
  expect(decision).toEqual({ decision: "allow", decidedBy: "user" });
  expect(io.out()).toBe("after\n");
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
])("%s ends the run cleanly with exit code %d", async (name, code) => {
  const io = fakeIo({ isTTY: true });
  const agent = fakeAgent({ run: endless });
  const running = rookery(["run", "x"], io, agent);
  await written(io.out, "working");
  io.signals.emit(name);
  expect(await running).toBe(code);
  expect(agent.log.at(-1)).toEqual(["agent disposed"]);
  // On the way out another one must not end the process by itself, with no exit code.
  expect(io.signals.listenerCount(name)).toBe(1);
});

test("Ctrl-C at a question denies and ends the run", async () => {
  const io = fakeIo({ isTTY: true });
  let answer: unknown;
  const agent = fakeAgent({
    async *run(_input, { approve, signal }) {
      answer = await approve?.(call, context("rw"));
      yield delta("");
      return outcome({ status: signal?.aborted ? "aborted" : "completed" });
    },
  });
  const running = rookery(["run", "x", "--approve", "always-ask"], io, agent);
  await written(io.err, "Type y to allow");
  io.signals.emit("SIGINT");
  expect(await running).toBe(130);
  expect(answer).toMatchObject({ decision: "deny" });
});

test("the time limit ends the run with exit code 124", async () => {
  expect(await rookery(["run", "x", "--timeout", "0.01"], fakeIo(), fakeAgent({ run: endless }))).toBe(124);
});

test("twenty thousand deltas come out whole and in order", async () => {
  const io = fakeIo();
  const agent = fakeAgent({
    async *run() {
      for (let i = 0; i < 20_000; i++) yield delta(`${i}\n`);
      return outcome();
    },
  });
  expect(await rookery(["run", "x"], io, agent)).toBe(0);
  expect(io.out()).toBe(Array.from({ length: 20_000 }, (_, i) => `${i}\n`).join(""));
});

/** What the run's ApproveFn says of a reading and of a writing call. */
async function decisions(flags: string[]): Promise<string[]> {
  const answers: string[] = [];
  const io: FakeIo = fakeIo();
  const agent = fakeAgent({
    async *run(_input, { approve }) {
      for (const permission of ["r", "rw"] as const) {
        const answer = await approve?.(call, context(permission));
        answers.push(typeof answer === "object" ? answer.decision : String(answer));
      }
      yield delta("");
      return outcome();
    },
  });
  await rookery(["run", "x", ...flags], io, agent);
  return answers;
}

test("--toolset reaches the agent", async () => {
  const agent = fakeAgent({ run: hello });
  expect(await rookery(["run", "say hi", "--toolset", "minimal"], fakeIo(), agent)).toBe(0);
  expect(agent.log[0]).toEqual(["createAgent", expect.objectContaining({ toolset: "minimal" })]);
});

test("--sandbox and --sandbox-network reach the agent", async () => {
  const agent = fakeAgent({ run: hello });
  await rookery(["run", "say hi", "--sandbox", "read-only", "--sandbox-network", "on"], fakeIo(), agent);
  expect(agent.log[0]).toEqual([
    "createAgent",
    expect.objectContaining({ sandbox: { mode: "read-only", network: "on" } }),
  ]);
});

test("commands that still run in the background are named on standard error, for a person alone", async () => {
  const background = [{ id: "proc-1", command: "npm start", startedAt: new Date(), status: "running" as const }];
  const io = fakeIo({ cwd: "/tmp" });
  expect(await rookery(["run", "say hi"], io, fakeAgent({ run: hello, background }))).toBe(0);
  expect([io.out(), io.err()]).toEqual([
    "hello\n",
    "rookery: a command in the background is ended with the session: npm start\n",
  ]);
  const quiet = fakeIo({ cwd: "/tmp" });
  await rookery(["run", "say hi", "--output", "json"], quiet, fakeAgent({ run: hello, background }));
  expect(quiet.err()).toBe("");
});
