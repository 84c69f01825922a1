import { eventMessage, modelMessage, type OmniMessage, RookeryError } from "@rookery/core";
import { ruleViolations } from "@rookery/core/testing";
import { expect, test } from "vitest";
import { type AgentScript, fakeAgent } from "../../test/support/fake-agent.ts";
import { fakeIo, written } from "../../test/support/fake-io.ts";
import { rookery } from "../rookery.ts";

const tools = [
  { name: "probe", description: "Looks.\nClosely.", parameters: {}, permission: "r" as const },
  { name: "longer_name", description: "Works.", parameters: {} },
];
const output = (text: string, stop_reason: "completed" | "failed" | "timeout" | "aborted" = "completed"): OmniMessage =>
  modelMessage({
    type: "tool_call_output",
    role: "user",
    output: text,
    tool_call_id: "c",
    stop_reason,
    details: { n: 1 },
  });
/** Answers with the call's own words. */
const echo: NonNullable<AgentScript["call"]> = async function* (name, argumentsJson) {
  yield modelMessage({ type: "tool_call", role: "assistant", name, arguments: argumentsJson, tool_call_id: "c" });
  yield output(`${name} ${argumentsJson}`);
};
const ending = (stop_reason: "failed" | "timeout" | "aborted"): AgentScript => ({
  async *call() {
    yield output("half", stop_reason);
  },
});

test("tool list shows names, permissions and what each is for", async () => {
  const io = fakeIo();
  const agent = fakeAgent({ tools });
  expect(await rookery(["tool", "list", "--workspace", "/w"], io, agent)).toBe(0);
  expect(io.out()).toBe("probe        r   Looks.\nlonger_name  rw  Works.\n");
  expect(agent.log.map(([name]) => name)).toEqual(["createAgent", "createToolRunner", "agent disposed"]);
  expect(agent.log[1]).toEqual(["createToolRunner", { workspaceDir: "/w" }]);
});

test("tool list as json is the definitions", async () => {
  const io = fakeIo();
  expect(await rookery(["tool", "list", "--output", "json"], io, fakeAgent({ tools }))).toBe(0);
  expect(JSON.parse(io.out())).toEqual(tools);
});

test("tool call runs one tool and prints its output", async () => {
  const io = fakeIo();
  expect(await rookery(["tool", "call", "probe", '{"a":1}'], io, fakeAgent({ call: echo }))).toBe(0);
  expect(io.out()).toBe('probe {"a":1}\n');
});

test("arguments come from standard input with -, and are empty without any", async () => {
  const piped = fakeIo({ stdin: '{"a":2}' });
  expect(await rookery(["tool", "call", "probe", "-"], piped, fakeAgent({ call: echo }))).toBe(0);
  expect(piped.out()).toBe('probe {"a":2}\n');
  const none = fakeIo();
  expect(await rookery(["tool", "call", "probe"], none, fakeAgent({ call: echo }))).toBe(0);
  expect(none.out()).toBe("probe {}\n");
});

test("json is the output, how it ended and the details; stream-json is the messages", async () => {
  const json = fakeIo();
  await rookery(["tool", "call", "probe", "{}", "--output", "json"], json, fakeAgent({ call: echo }));
  expect(JSON.parse(json.out())).toEqual({ output: "probe {}", stop_reason: "completed", details: { n: 1 } });
  const stream = fakeIo();
  await rookery(["tool", "call", "probe", "{}", "--output", "stream-json"], stream, fakeAgent({ call: echo }));
  const lines = stream.out().trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).payload.type)).toEqual(["tool_call", "tool_call_output"]);
});

test.each([
  ["failed", 1],
  ["timeout", 124],
  ["aborted", 130],
] as const)("a call that ended %s exits %d and says so", async (stop, code) => {
  const io = fakeIo();
  expect(await rookery(["tool", "call", "probe"], io, fakeAgent(ending(stop)))).toBe(code);
  expect(io.out()).toBe("half\n");
  expect(io.err()).toBe(`rookery: the call ended: ${stop}\n`);
});

test("at a terminal what a call prints is shown on standard error while it runs, as text only", async () => {
  const agent = fakeAgent({
    async *call() {
      yield eventMessage({ type: "tool_progress", tool_call_id: "c", text: "step 1" });
      yield eventMessage({ type: "tool_progress", tool_call_id: "c", text: "step 2\n" });
      yield output("done");
    },
  });
  const terminal = fakeIo({ isTTY: true });
  await rookery(["tool", "call", "probe", "{}"], terminal, agent);
  const erased = `\r${" ".repeat(59)}\r`;
  expect(terminal.err()).toBe(`  step 1${erased}  step 2${erased}`);
  expect(terminal.out()).toBe("done\n");
  const json = fakeIo({ isTTY: true });
  await rookery(["tool", "call", "probe", "{}", "--output", "json"], json, agent);
  const piped = fakeIo();
  await rookery(["tool", "call", "probe", "{}"], piped, agent);
  expect([json.err(), piped.err()]).toEqual(["", ""]);
});

test.each(["{", "[1]", "3", "null", ""])("arguments that are not a JSON object are a usage error: %j", async (json) => {
  const io = fakeIo();
  const agent = fakeAgent({ call: echo });
  expect(await rookery(["tool", "call", "probe", json], io, agent)).toBe(2);
  expect(io.err()).toBe(
    `rookery: the arguments are not a JSON object: ${JSON.stringify(json)}; write them like '{"NAME": "VALUE"}'\n`,
  );
  expect(agent.log).toEqual([]);
});

test("every call is allowed unless --approve says otherwise", async () => {
  const decided: unknown[] = [];
  const agent = fakeAgent({
    async *call(_name, _json, { approve }) {
      const call = modelMessage({
        type: "tool_call",
        role: "assistant",
        name: "probe",
        arguments: "{}",
        tool_call_id: "c",
      });
      decided.push(await approve?.(call, { summary: "", risk: "process", permission: "rw", workspace: "/" }));
      yield output("");
    },
  });
  await rookery(["tool", "call", "probe"], fakeIo(), agent);
  await rookery(["tool", "call", "probe", "--approve", "deny-all"], fakeIo(), agent);
  expect(decided).toMatchObject([{ decision: "allow" }, { decision: "deny" }]);
});

test("a call that was denied failed; nobody aborted it", async () => {
  const agent = fakeAgent({
    async *call() {
      yield eventMessage({ type: "approval_decision", tool_call_id: "c", decision: "deny" });
      yield modelMessage({
        type: "tool_call_output",
        role: "user",
        output: "no",
        tool_call_id: "c",
        stop_reason: "aborted",
      });
    },
  });
  expect(await rookery(["tool", "call", "probe", "--approve", "deny-all"], fakeIo(), agent)).toBe(1);
});

test("call - answers each line in order, in one environment, and goes on behind a bad one", async () => {
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  const io = fakeIo({
    stdin: `{"name":"one","arguments":{"a":"\u2028"}}\r\n\n{"name":\n{"name":3}\n{"name":"deep","arguments":{"a":${deep}}}\n{"name":"two"}`,
  });
  const agent = fakeAgent({ call: echo });
  expect(await rookery(["tool", "call", "-", "--output", "json"], io, agent)).toBe(1);
  const answers = io.out().trimEnd().split("\n");
  expect(answers.map((line) => JSON.parse(line))).toEqual([
    { output: 'one {"a":"\u2028"}', stop_reason: "completed", details: { n: 1 } },
    { output: 'line 3 is not JSON: "{\\"name\\":"', stop_reason: "failed" },
    { output: 'line 4 is not { "name": STRING, "arguments": OBJECT }', stop_reason: "failed" },
    { output: "line 5 has arguments that are nested too deeply", stop_reason: "failed" },
    { output: "two {}", stop_reason: "completed", details: { n: 1 } },
  ]);
  expect(agent.log.filter(([name]) => name === "createToolRunner")).toHaveLength(1);
});

test("call - takes arguments as text too, and refuses a line that is not UTF-8 or longer than 64 MiB", async () => {
  const io = fakeIo();
  const running = rookery(["tool", "call", "-", "--output", "json"], io, fakeAgent({ call: echo }));
  io.stdin.write(JSON.stringify({ name: "one", arguments: '{"a":"é"}' }));
  io.stdin.write(Buffer.from('\n{"name":"two","arguments":{"a":"\xe9"}}\n', "latin1"));
  const mebibyte = Buffer.alloc(1024 * 1024, "x");
  for (let i = 0; i <= 64; i++) io.stdin.write(mebibyte);
  io.stdin.end('\n{"name":"three","arguments":"no JSON"}');
  expect(await running).toBe(1);
  const outputs = io
    .out()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).output);
  expect(outputs).toEqual(['one {"a":"é"}', "line 2 is not UTF-8", "line 3 is longer than 64 MiB", "three no JSON"]);
});

test("call - with arguments is a usage error", async () => {
  const io = fakeIo();
  expect(await rookery(["tool", "call", "-", "{}"], io, fakeAgent({ call: echo }))).toBe(2);
  expect(io.err()).toMatch(/^rookery: with - as its name the calls come from standard input, and \{\} is none; /);
});

test("call - answers a line before the next one is written", async () => {
  const io = fakeIo();
  const running = rookery(["tool", "call", "-"], io, fakeAgent({ call: echo }));
  io.stdin.write('{"name":"one"}\n');
  await written(io.out, "one {}\n");
  io.stdin.write('{"name":"two"}\n');
  await written(io.out, "two {}\n");
  io.stdin.end();
  expect(await running).toBe(0);
});

test("a bad line in stream-json is a denied call that keeps the rules of the protocol", async () => {
  const io = fakeIo({ stdin: 'nonsense\n{"name":"one","arguments":3}\n' });
  expect(await rookery(["tool", "call", "-", "--output", "stream-json"], io, fakeAgent({ call: echo }))).toBe(1);
  const messages: OmniMessage[] = io
    .out()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(ruleViolations(messages)).toEqual([]);
  const reason = 'line 1 is not JSON: "nonsense"';
  expect(messages.slice(0, 6).map(({ payload }) => payload)).toMatchObject([
    { type: "tool_call", name: "", arguments: "nonsense", tool_call_id: "line_1" },
    { type: "approval_decision", decision: "deny", decided_by: "default", reason },
    { type: "partial_tool_call_output", event_type: "start" },
    { type: "partial_tool_call_output", event_type: "delta", output: reason },
    { type: "partial_tool_call_output", event_type: "stop" },
    { type: "tool_call_output", output: reason, tool_call_id: "line_1", stop_reason: "failed" },
  ]);
  expect(messages[6]?.payload).toMatchObject({ name: "one", arguments: '{"name":"one","arguments":3}' });
});

test("as text each answer of call - is told apart by its line, its tool and how it ended", async () => {
  const io = fakeIo({ stdin: '{"name":"one"}\n\nnonsense\n{"name":"two\\nlines","arguments":3}\n' });
  expect(await rookery(["tool", "call", "-"], io, fakeAgent({ call: echo }))).toBe(1);
  expect(io.out()).toBe(
    [
      "--- 1 one: completed",
      "one {}",
      "--- 3: failed",
      'line 3 is not JSON: "nonsense"',
      "--- 4 two lines: failed",
      'line 4 is not { "name": STRING, "arguments": OBJECT }',
      "",
    ].join("\n"),
  );
  expect(io.err()).toBe("");
});

test("how a single call ended is told after its output", async () => {
  const io = fakeIo();
  await rookery(["tool", "call", "probe"], { ...io, stderr: io.stdout }, fakeAgent(ending("failed")));
  expect(io.out()).toBe("half\nrookery: the call ended: failed\n");
});

test("Ctrl-C while call - waits for a line ends it with exit code 130", async () => {
  const io = fakeIo();
  const agent = fakeAgent({ call: echo });
  const running = rookery(["tool", "call", "-"], io, agent);
  io.stdin.write('{"name":"one"}\n');
  await written(io.out, "one {}\n");
  io.signals.emit("SIGINT");
  expect(await running).toBe(130);
  expect(agent.log.at(-1)).toEqual(["agent disposed"]);
});

test("a workspace that is missing is told in one line", async () => {
  const io = fakeIo();
  const failure = new RookeryError("workspace-missing", 'the workspace "/w" does not exist');
  expect(await rookery(["tool", "list"], io, fakeAgent({ failure }))).toBe(2);
  expect(io.err()).toBe('rookery: the workspace "/w" does not exist\n');
});
