import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createAgent, defineTool, runToEnd, userText } from "@rookery/core";
import { type ScriptedTurn, scriptedLLM } from "@rookery/core/testing";
import { afterAll, expect, test, vi } from "vitest";
import { type FakeIo, fakeIo, written } from "../../test/support/fake-io.ts";
import { rookery } from "../rookery.ts";

const TOUCH = { name: "exec_command", args: { description: "Make \x1b[2J it", cmd: "touch made; echo done; date" } };
const SAY = { name: "say", args: { text: "hi" } };

const root = mkdtempSync(join(tmpdir(), "rookery-replay-test-"));
// The command's own scratch directories too.
vi.stubEnv("TMPDIR", root);
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

test("a recorded session is shown again as run shows one, and its tools really run", async () => {
  const { id, root } = await recorded([{ text: "I make it.", calls: [TOUCH] }, "Made."]);
  const workspace = newDirectory();
  const { io, code } = await replay([id, "--workspace", workspace], root);
  expect(code).toBe(0);
  expect(io.out()).toBe("I make it.\nMade.\n");
  expect(io.err()).toBe("> Do it\n● exec_command  Make ␛[2J it  touch made; echo done; date\n");
  expect(existsSync(join(workspace, "made"))).toBe(true);
});

test("the replay is a session of its own", async () => {
  const { id, root } = await recorded(["Hello."]);
  await replay([id], root);
  const agent = await createAgent({ root, env: {} });
  expect((await agent.listSessions()).map(({ provider }) => provider).sort()).toEqual(["custom", "replay"]);
});

test.each([
  ["id", ({ id }: Recorded) => id],
  ["directory", ({ trace }: Recorded) => dirname(trace)],
  ["trace file", ({ trace }: Recorded) => trace],
])("a session is found by its %s", async (_what, name) => {
  const session = await recorded([{ calls: [TOUCH] }, "Made."]);
  const { io, code } = await replay([name(session), "--check"], session.root);
  expect(code).toBe(0);
  expect(io.out()).toMatch(
    /^✓ exec_command {2}Make ␛\[2J it {2}touch made; echo done; date\n1 call, as recorded; replayed as session-\S+\n$/,
  );
  expect(io.err()).toBe("");
});

test("an export is replayed, and a scratch workspace goes away where nothing differs", async () => {
  const { id, root } = await recorded([{ calls: [TOUCH] }, "Made."]);
  const file = join(newDirectory(), "session.jsonl");
  expect(await rookery(["sessions", "export", id, file, "--root", root], fakeIo())).toBe(0);
  const { io, code } = await replay([file, "--check", "--output", "json"], newDirectory());
  expect(code).toBe(0);
  const report = JSON.parse(io.out());
  expect(report).toMatchObject({
    status: "equal",
    recorded_session_id: id,
    problems: [],
    calls: [{ name: "exec_command", recorded: { stop_reason: "completed" }, replayed: { stop_reason: "completed" } }],
  });
  expect(existsSync(report.workspace)).toBe(false);
});

test("a difference is shown below its call, is exit code 1, and keeps the workspace", async () => {
  const { id, root } = await recorded([{ calls: [SAY] }, { calls: [TOUCH] }, "Made."]);
  const { io, code } = await replay([id, "--check"], root, "ho");
  expect(code).toBe(1);
  expect(io.out()).toMatch(
    /^✗ say {2}hi\n {4}@@ -1 \+1 @@\n {4}-hi\n {4}\+ho\n✓ exec_command .*\n2 calls, 1 of them different; replayed as \S+\n$/,
  );
  const [, kept = ""] =
    /^rookery: outputs differ from the record; the workspace is left in (\S+)\. It was empty .*: pass --workspace DIR .*\n$/.exec(
      io.err(),
    ) ?? [];
  expect(readdirSync(kept)).toEqual(["made"]);
});

test("a tool that is gone is a difference", async () => {
  const { id, root } = await recorded([{ calls: [SAY] }, "Said."]);
  const { io, code } = await replay([id, "--check"], root, undefined);
  expect(code).toBe(1);
  expect(io.out()).toContain("✗ say  hi\n    stop_reason: completed -> failed\n");
});

test("--check with stream-json leaves standard output to the messages", async () => {
  const { id, root } = await recorded([{ calls: [TOUCH] }, "Made."]);
  const { io } = await replay([id, "--check", "--output", "stream-json"], root);
  const types = io
    .out()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).payload.type);
  expect(types).toContain("tool_call_output");
  expect(io.err()).toMatch(/^✓ .*\n1 call, as recorded/);
});

test("json without --check is the object that run writes", async () => {
  const { id, root } = await recorded(["Hello."]);
  const { io, code } = await replay([id, "--output", "json"], root);
  expect(code).toBe(0);
  expect(JSON.parse(io.out())).toMatchObject({
    status: "completed",
    text: "Hello.",
    turns: 1,
    trace: expect.any(String),
  });
});

test.each([
  ["read-only", "replayed with --approve read-only"],
  ["deny-all", "the mode deny-all denies every call"],
])("--approve %s denies what the record allowed, asking nobody, at a terminal too", async (mode, reason) => {
  const { id, root } = await recorded([{ calls: [TOUCH] }, "Made."]);
  const workspace = newDirectory();
  const { io, code } = await replay([id, "--check", "--workspace", workspace, "--approve", mode], root, "hi", true);
  expect(code).toBe(1);
  expect(io.out()).toContain(`+Reason: ${reason}\n`);
  expect(readdirSync(workspace)).toEqual([]);
});

test("--approve takes only what restricts", async () => {
  const { io, code } = await replay(["x", "--approve", "allow-all"], newDirectory());
  expect(code).toBe(2);
  expect(io.err()).toBe('rookery: --approve does not know "allow-all"; use one of read-only, deny-all\n');
});

test.each([
  [
    "a file that is missing",
    "/no/such.jsonl",
    /^rookery: cannot read a trace at "\/no\/such\.jsonl": ENOENT; name a trace/,
  ],
  ["an id that is not there", "session-1", /^rookery: no session is named "session-1"; /],
  [
    "a file that is no trace",
    import.meta.filename,
    /^rookery: nothing was checked: .* that cannot be read left out: .*; a trace under test must be whole; /,
  ],
  [
    "a directory without a trace",
    import.meta.dirname,
    /^rookery: cannot read a trace at .*: the directory holds no 001\.jsonl; /,
  ],
])("%s is exit code 2 and one line that says what would be right", async (_what, trace, message) => {
  const { io, code } = await replay([trace, "--check"], newDirectory());
  expect(code).toBe(2);
  expect(io.err().split("\n").at(-2)).toMatch(message);
  expect(io.out()).toBe("");
});

test("a torn end is a warning, and what is whole is replayed", async () => {
  const { trace, root } = await recorded(["Hello."]);
  const file = join(newDirectory(), "torn.jsonl");
  writeFileSync(file, `${readFileSync(trace, "utf8")}{"timest`);
  const { io, code } = await replay([file], root);
  expect(code).toBe(0);
  expect(io.err()).toMatch(/^rookery: warning: .*torn\.jsonl: the last record was cut off/);
});

test.each([
  ["torn", (text: string) => `${text}{"timest`, /^rookery: nothing was checked: .*: the last record was cut off/],
  ["damaged", (text: string) => text.replace("\n", "\nx\n"), /^rookery: nothing was checked: .*line 2 is not JSON/],
  ["empty", () => "", /^rookery: the records cannot be replayed: they hold no session_meta/],
  [
    "cut off before the first reply",
    (text: string) => text.split("\n").slice(0, 3).join("\n"),
    /^rookery: the records cannot be replayed: they hold no whole reply of a model/,
  ],
])("a trace that is %s passes no check, is exit code 2 and runs nothing", async (_what, change, message) => {
  const { trace, root } = await recorded([{ calls: [TOUCH] }, "Made."]);
  const file = join(newDirectory(), "changed.jsonl");
  writeFileSync(file, change(readFileSync(trace, "utf8")));
  const workspace = newDirectory();
  const { io, code } = await replay([file, "--check", "--workspace", workspace], root);
  expect(code).toBe(2);
  expect(io.err()).toMatch(message);
  expect(io.out()).toBe("");
  expect(readdirSync(workspace)).toEqual([]);
});

test("a recorded run that failed is shown to its end, with the exit code of a failure", async () => {
  const outcome = { status: "failed", permanent: true, message: "no" } as const;
  const { id, root } = await recorded([{ calls: [SAY] }, { outcome }]);
  const { io, code } = await replay([id], root);
  expect(code).toBe(1);
  expect(io.err()).toContain("the recording has 1 request and no more");
});

test("Ctrl-C ends the replay and the tool that runs", async () => {
  const wait = {
    name: "exec_command",
    args: { description: "Wait", cmd: "test -e stop || { touch stop; exit; }; sleep 300" },
  };
  const { id, root } = await recorded([{ calls: [wait] }, "Waited."]);
  const workspace = newDirectory();
  writeFileSync(join(workspace, "stop"), "");
  const io = fakeIo();
  const ended = rookery(["replay", id, "--root", root, "--workspace", workspace], io);
  await written(io.err, "● exec_command");
  io.signals.emit("SIGINT");
  expect(await ended).toBe(130);
});

interface Recorded {
  readonly id: string;
  readonly trace: string;
  readonly root: string;
}

async function recorded(turns: readonly ScriptedTurn[]): Promise<Recorded> {
  const root = newDirectory();
  const agent = await createAgent({ root, env: {}, createLLM: () => scriptedLLM(...turns), tools: [say("hi")] });
  const session = await agent.createSession({ workspaceDir: newDirectory() });
  await runToEnd(session, [userText("Do it")], { approve: async () => "allow" });
  await agent.dispose();
  return { id: session.sessionId, trace: session.traceFile, root };
}

/** @param said - What the tool that says something says; absent: there is no such tool. */
async function replay(
  argv: readonly string[],
  root: string,
  ...[said, isTTY = false]: [said?: string | undefined, isTTY?: boolean]
): Promise<{ io: FakeIo; code: number }> {
  const io = fakeIo({ isTTY });
  const create: typeof createAgent = (options) =>
    createAgent({ ...options, tools: said === undefined ? [] : [say(said)] });
  const code = await rookery(["replay", ...argv, "--root", root], io, { createAgent: create });
  return { io, code };
}

function say(text: string): ReturnType<typeof defineTool> {
  return defineTool({
    name: "say",
    label: "Say",
    description: "Says something.",
    parameters: { type: "object", properties: { text: { type: "string" } } },
    execute: async () => ({ content: [{ type: "text", text }], details: {} }),
  });
}

function newDirectory(): string {
  return mkdtempSync(join(root, "at-"));
}
