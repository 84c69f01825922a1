import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { ApproveFn } from "../src/approval/contract.ts";
import { type AgentTool, defineTool } from "../src/environment/agent-tool.ts";
import { assistantText, eventMessage, sessionMetaMessage, userText } from "../src/omnimessage/build.ts";
import { isSessionMeta, isType } from "../src/omnimessage/guards.ts";
import type { OmniMessage, SessionMetaPayload } from "../src/omnimessage/message.ts";
import { type ReplayOptions, type ReplayReport, replayTrace } from "../src/session/replay/replay-trace.ts";
import {
  collectRun,
  readTraceMessages,
  ruleViolations,
  type ScriptedTurn,
  scriptedLLM,
  type TempAgent,
  tempAgent,
} from "../src/testing/index.ts";

const allow: ApproveFn = async () => "allow";
const cleanUp: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const step of cleanUp.splice(0)) await step();
});

test("a session is run again in another workspace: the tools really run, and nothing differs", async () => {
  const records = await recorded((workspace) => [
    {
      thinking: "A file first.",
      calls: [
        { name: "write_file", args: { description: "w", file_path: join(workspace, "a.txt"), content: "one\n" } },
      ],
    },
    { calls: [command(`cat ${workspace}/a.txt; pwd; date; echo $$ > pid.txt`), command("ls a.txt; exit 3")] },
    "Done.",
  ]);
  const { report, messages, workspaceDir, trace } = await replay(records);
  expect(report).toMatchObject({ equal: true, problems: [], recordedSessionId: metaOf(records).session_id });
  expect(report.calls.map(({ name, difference }) => [name, difference])).toEqual([
    ["write_file", undefined],
    ["exec_command", undefined],
    ["exec_command", undefined],
  ]);
  expect(report.calls[2]?.replayed).toMatchObject({ stopReason: "failed", output: expect.stringContaining("a.txt") });
  expect(await readFile(join(workspaceDir, "a.txt"), "utf8")).toBe("one\n");
  expect(report.outcomes).toMatchObject([{ status: "completed", text: "Done.", turns: 3 }]);
  expect(ruleViolations(messages, { against: trace })).toEqual([]);
  expect(ruleViolations(trace, { trace: true })).toEqual([]);
  expect(metaOf(trace)).toMatchObject({ provider: "replay", model_id: "custom", session_id: report.sessionId });
});

test("the runs of a session are played in order, and one that was given up takes nothing of the next", async () => {
  const records = await recorded(() => [{ calls: [command("echo one")] }, { calls: [command("echo two")] }], {
    prompts: ["first", "second"],
    session: { maxTurns: 1 },
  });
  const seen: unknown[] = [];
  const { report } = await replay(records, { onRun: ({ input }) => seen.push(input[0]?.payload) });
  expect(seen).toMatchObject([{ text: "first" }, { text: "second" }]);
  expect(report.calls.map(({ difference }) => difference)).toEqual([undefined, undefined]);
  expect(report.outcomes.map(({ turns }) => turns)).toEqual([1, 1]);
  expect(report).toMatchObject({ equal: true, problems: [] });
});

test("a changed output is a difference, with the lines that differ; times and ids are none", async () => {
  const say = (text: string): AgentTool => probe(async () => `at ${new Date().toISOString()}\n${text}\nend`);
  const records = await recorded(() => [{ calls: [{ name: "probe", args: {} }] }, "Done."], { tools: [say("old")] });
  expect((await replay(records, {}, [say("old")])).report.equal).toBe(true);
  const { report } = await replay(records, {}, [say("new")]);
  expect(report.equal).toBe(false);
  expect(report.calls[0]?.difference).toBe("@@ -1,3 +1,3 @@\n at <time>\n-old\n+new\n end");
  expect((await replay(records, { ignore: [/old|new/] }, [say("new")])).report.equal).toBe(true);
});

test("a changed stop reason and changed images are differences", async () => {
  const image = (data: string): AgentTool =>
    defineTool({
      ...probe(async () => ""),
      execute: async () => ({ content: [{ type: "image", data, mimeType: "image/png" }], details: {} }),
    });
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const other = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
  const records = await recorded(() => [{ calls: [{ name: "probe", args: {} }] }, "Done."], { tools: [image(pixel)] });
  expect((await replay(records, {}, [image(pixel)])).report.calls[0]?.difference).toBe(undefined);
  expect((await replay(records, {}, [image(other)])).report.calls[0]?.difference).toBe("image 1 differs");
  const failing = probe(async () => {
    throw new Error("gone");
  });
  expect((await replay(records, {}, [failing])).report.calls[0]?.difference).toMatch(
    /^stop_reason: completed -> failed\nimages: 1 -> 0\n@@/,
  );
});

test("a tool that does not exist any more is a difference", async () => {
  const tools = [probe(async () => "here")];
  const records = await recorded(() => [{ calls: [{ name: "probe", args: {} }] }, "Done."], { tools });
  expect((await replay(records)).report.calls[0]?.difference).toMatch(
    /^stop_reason: completed -> failed\n[\s\S]*probe/,
  );
});

test.each([true, false, "unknown"] as const)(
  "a call of a tool that there is none of is answered as it was, with the same image tools (vision: %s)",
  async (vision) => {
    const records = await recorded(() => [{ calls: [{ name: "nope", args: {} }] }, "Done."], { session: { vision } });
    const { report } = await replay(records);
    expect(report.calls[0]?.replayed?.output).toMatch(vision === false ? /describe_image/ : /read_image/);
    expect(report).toMatchObject({ equal: true, problems: [] });
  },
);

test("what was denied is denied again with its reason, and what the record does not decide is denied", async () => {
  const records = await recorded(() => [{ calls: [command("touch a"), command("touch b")] }, "Done."], {
    approve: async ({ payload }) =>
      payload.tool_call_id === "call_1" ? { decision: "deny", reason: "not today" } : "allow",
  });
  const { report, workspaceDir } = await replay(records);
  expect(report.equal).toBe(true);
  expect(report.calls[0]?.replayed?.output).toBe("Tool call denied by user.\nReason: not today");
  expect(await exists(workspaceDir, "a")).toBe(false);
  expect(await exists(workspaceDir, "b")).toBe(true);

  const undecided = records.filter((message) => !isType(message, "approval_decision"));
  const again = await replay(undecided);
  expect(again.report.calls[1]?.replayed?.output).toBe(
    "Tool call denied by user.\nReason: the record holds no decision on this call",
  );
  expect(await exists(again.workspaceDir, "b")).toBe(false);
});

test("a decision holds for the arguments it was taken on; those a hook put in their place are put there again", async () => {
  const records = await recorded(() => [{ calls: [command("touch model")] }, "Done."], {
    session: { hooks: { beforeToolCall: async () => ({ args: { description: "d", cmd: "touch hook" } }) } },
  });
  const first = await replay(records);
  expect(first.report.equal).toBe(true);
  expect(await exists(first.workspaceDir, "hook")).toBe(true);
  expect(await exists(first.workspaceDir, "model")).toBe(false);

  const hooks = { beforeToolCall: async () => ({ args: { description: "d", cmd: "touch other" } }) };
  const { report, workspaceDir } = await replay(records, {}, [], hooks);
  expect(report.calls[0]?.replayed?.output).toContain("the record decided on this call with other arguments");
  expect(await exists(workspaceDir, "other")).toBe(false);
});

test("what a hook blocked is blocked again without the hook", async () => {
  const records = await recorded(() => [{ calls: [command("touch a")] }, "Done."], {
    session: { hooks: { beforeToolCall: async () => ({ block: true, reason: "no touching" }) } },
  });
  const { report } = await replay(records);
  expect(report.calls[0]?.replayed?.output).toBe("Tool call blocked: no touching");
  expect(report.equal).toBe(true);
});

test("restrict takes away from what the record allows and adds nothing", async () => {
  const records = await recorded(() => [{ calls: [command("touch a")] }, "Done."]);
  const restrict: ApproveFn = async () => ({ decision: "deny", decidedBy: "mode", reason: "only looking" });
  const { report, workspaceDir } = await replay(records, { restrict });
  expect(report.calls[0]?.difference).toContain("+Reason: only looking");
  expect(await exists(workspaceDir, "a")).toBe(false);
});

test("an interrupted replay ends with its run and tells what was not made", async () => {
  const controller = new AbortController();
  const records = await recorded(
    () => [{ calls: [{ name: "probe", args: {} }] }, { calls: [command("true")] }, "Done."],
    {
      tools: [probe(async () => "ok")],
    },
  );
  const stop = probe(async () => {
    controller.abort();
    return "ok";
  });
  const { report } = await replay(records, { signal: controller.signal }, [stop]);
  expect(report.problems).toEqual(["run 1 of 1 was interrupted"]);
  expect(report.calls.at(-1)).toMatchObject({ name: "exec_command", difference: "the call was not made again" });
});

test("a task that now ends before the recorded one did is told", async () => {
  const ending = (terminate: boolean): AgentTool =>
    defineTool({
      ...probe(async () => ""),
      execute: async () => ({ content: [{ type: "text", text: "ok" }], details: {}, terminate }),
    });
  const records = await recorded(() => [{ calls: [{ name: "probe", args: {} }] }, "Done."], { tools: [ending(false)] });
  expect((await replay(records, {}, [ending(true)])).report).toMatchObject({
    equal: false,
    problems: ["run 1: 1 recorded request was not made"],
  });
  const ended = await recorded(() => [{ calls: [{ name: "probe", args: {} }] }], { tools: [ending(true)] });
  expect((await replay(ended, {}, [ending(true)])).report).toMatchObject({ equal: true, problems: [] });
  expect((await replay(ended, {}, [ending(false)])).report.problems).toEqual([
    "run 1: it ended failed (the recording has 1 request and no more) and had not when it was recorded",
  ]);
});

test("a session goes on in its next context: what that carried over, and the request for a summary, are no runs", async () => {
  const records = await recorded(
    () => [{ calls: [command("echo one")] }, "First.", { calls: [command("echo two")] }, "Second."],
    {
      prompts: ["one", "two"],
    },
  );
  const second = records.findLastIndex((message) => isType(message, "text") && message.payload.role === "user");
  const [head] = records.filter(isSessionMeta);
  const why = { reason: "context", mode: "summarize" } as const;
  const compaction = [
    eventMessage({ type: "compaction_begin", ...why, context: 9, turns: 1 }),
    eventMessage({ type: "request_begin" }),
    assistantText("A summary."),
    eventMessage({ type: "request_end", status: "completed" }),
    eventMessage({ type: "compaction_end", ...why, status: "completed" }),
    sessionMetaMessage({ ...(head?.payload as SessionMetaPayload), carried: 2 }),
    userText("A summary."),
    assistantText("Understood."),
  ];
  const { report } = await replay([...records.slice(0, second), ...compaction, ...records.slice(second)]);
  expect(report.outcomes.map(({ text }) => text)).toEqual(["First.", "Second."]);
  expect(report).toMatchObject({ equal: true, calls: [{}, {}] });
});

test("a record that a kill cut off at any line is replayed without a throw", async () => {
  const records = await recorded(() => [{ text: "Look.", calls: [{ name: "probe", args: {} }] }, "Done."], {
    tools: [probe(async () => "ok")],
  });
  const answered = records.findIndex((message) => isType(message, "request_end")) + 1;
  for (let length = answered; length < records.length; length++) {
    const { report } = await replay(records.slice(0, length), {}, [probe(async () => "ok")]);
    expect(report.problems).toEqual([]);
  }
  await expect(replay(records.slice(0, answered - 1))).rejects.toMatchObject({
    code: "trace-corrupt",
    message: "the records cannot be replayed: they hold no whole reply of a model, so that there is nothing to play",
  });
});

test.each([
  ["without anybody to answer ends completed", undefined, "completed", undefined],
  [
    "whose person did not answer ends failed",
    async () => ({ decision: "deny", decidedBy: "default" }),
    "failed",
    "approval-unanswered",
  ],
] satisfies [string, ApproveFn | undefined, string, string | undefined][])(
  "a run %s, and its replay too",
  async (_what, approve, status, code) => {
    const records = await recorded(() => [{ calls: [command("touch a")] }, "Done."], { approve });
    const { report, trace } = await replay(records);
    expect(report).toMatchObject({ equal: true, problems: [], outcomes: [{ status, ...(code && { code }) }] });
    expect((await replay(trace)).report).toMatchObject({ equal: true, outcomes: [{ status }] });
  },
);

test("with its own hooks an agent blocks and replaces itself, and what the record's hook did is compared", async () => {
  const block = { beforeToolCall: async () => ({ block: true, reason: "no touching" }) as const };
  const blocked = await recorded(() => [{ calls: [command("touch a")] }, "Done."], { session: { hooks: block } });
  expect((await replay(blocked, { ownHooks: true }, [], block)).report.equal).toBe(true);
  const idle = { beforeToolCall: async () => undefined };
  const { report, workspaceDir } = await replay(blocked, { ownHooks: true }, [], idle);
  expect(report.calls[0]?.difference).toContain("-Tool call blocked: no touching\n");
  expect(await exists(workspaceDir, "a")).toBe(false);

  const more = {
    beforeToolCall: async ({ args }: { args: Record<string, unknown> }) => ({ args: { ...args, cmd: `${args.cmd}+` } }),
  };
  const replaced = await recorded(() => [{ calls: [command("echo a")] }, "Done."], { session: { hooks: more } });
  expect((await replay(replaced, { ownHooks: true }, [], more)).report.equal).toBe(true);
  expect((await replay(replaced, { ownHooks: true }, [], idle)).report.calls[0]?.difference).toContain(
    "the record decided on this call with other arguments",
  );
});

test("a call that still leads to the recorded workspace is denied and told, and nothing happens there", async () => {
  const place = await realpath(await mkdtemp(join(tmpdir(), "rookery-replay-")));
  cleanUp.push(() => rm(place, { recursive: true }));
  const [original, link] = [join(place, "my dir"), join(place, "link")];
  await mkdir(original);
  await symlink(original, link);
  const escaped = original.replace(" ", "\\ ");
  const cmds = [
    `echo > ${escaped}/a; test -e ${escaped}/a && echo there`,
    `echo > ${link}/b`,
    `echo > ${place}/my" "dir/c`,
  ];
  const records = await recorded(() => [{ calls: cmds.map(command) }, "Done."], { session: { workspaceDir: link } });
  expect(metaOf(records).workspace).toBe(original);
  for (const name of ["a", "b", "c"]) await rm(join(original, name));
  const { report, workspaceDir } = await replay(records);
  expect(await readdir(original)).toEqual([]);
  expect(await readdir(workspaceDir)).toEqual(["a"]);
  const denied = expect.stringMatching(
    /Reason: the call leads to \S+\/my dir.*, where the session was recorded, and could not be moved to /,
  );
  expect(report.calls.map(({ difference }) => difference)).toEqual([undefined, denied, denied]);
});

test("a record that names its workspace by a link is replayed under both names", async () => {
  const place = await realpath(await mkdtemp(join(tmpdir(), "rookery-replay-")));
  cleanUp.push(() => rm(place, { recursive: true }));
  const [original, link] = [join(place, "real"), join(place, "link")];
  await mkdir(original);
  await symlink(original, link);
  const cmd = `pwd; echo > ${link}/a; echo > ${original}/b`;
  const records = await recorded(() => [{ calls: [command(cmd)] }, "Done."], { session: { workspaceDir: link } });
  const old = records.map((message) =>
    isSessionMeta(message) ? { ...message, payload: { ...message.payload, workspace: link } } : message,
  );
  for (const name of ["a", "b"]) await rm(join(original, name));
  const { report, workspaceDir } = await replay(old);
  expect(report.equal).toBe(true);
  expect([await readdir(original), await readdir(workspaceDir)]).toEqual([[], ["a", "b"]]);
});

test.each([
  ["nothing", []],
  ["no head", [userText("hi")]],
])("%s is no recorded session", async (_what, records: OmniMessage[]) => {
  await expect(replay(records)).rejects.toMatchObject({
    code: "trace-corrupt",
    message: "the records cannot be replayed: they hold no session_meta, with which every trace begins",
  });
});

test("a session in which nothing was asked cannot be replayed", async () => {
  const records = await recorded(() => ["Hi."]);
  await expect(replay(records.filter(isSessionMeta))).rejects.toMatchObject({
    code: "trace-corrupt",
    message: expect.stringContaining("no input"),
  });
});

interface Recording {
  readonly tools?: readonly AgentTool[];
  /** `undefined`: nobody is there to answer. */
  readonly approve?: ApproveFn | undefined;
  readonly prompts?: readonly string[];
  readonly session?: Parameters<TempAgent["agent"]["createSession"]>[0];
}

async function recorded(
  turns: (workspaceDir: string) => readonly ScriptedTurn[],
  { tools = [], prompts = ["Go"], session: options = {}, ...recording }: Recording = {},
): Promise<OmniMessage[]> {
  const approve = "approve" in recording ? recording.approve : allow;
  await using temp = await tempAgent({ tools });
  const llm = scriptedLLM(...turns(temp.workspaceDir));
  const session = await temp.agent.createSession({
    workspaceDir: temp.workspaceDir,
    createLLM: () => llm,
    ...options,
  });
  for (const prompt of prompts) await collectRun(session, [userText(prompt)], approve ? { approve } : {});
  return await readTraceMessages(session.traceFile);
}

async function replay(
  records: readonly OmniMessage[],
  options: Partial<ReplayOptions> = {},
  tools: readonly AgentTool[] = [],
  hooks: object = {},
): Promise<{ report: ReplayReport; messages: OmniMessage[]; workspaceDir: string; trace: OmniMessage[] }> {
  const temp = await tempAgent({ tools, hooks });
  cleanUp.push(temp.dispose);
  const { agent, workspaceDir } = temp;
  const messages: OmniMessage[] = [];
  const stream = replayTrace(records, { agent, workspaceDir, ...options });
  for (;;) {
    const step = await stream.next();
    if (step.done) {
      return { report: step.value, messages, workspaceDir, trace: await readTraceMessages(step.value.traceFile) };
    }
    messages.push(step.value);
  }
}

function metaOf(records: readonly OmniMessage[]): OmniMessage["payload"] & Record<string, unknown> {
  return records.find(isSessionMeta)?.payload as never;
}

function probe(say: () => Promise<string>): AgentTool {
  return defineTool({
    name: "probe",
    label: "Probe",
    description: "Says something.",
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text", text: await say() }], details: {} }),
  });
}

function command(cmd: string): { name: string; args: object } {
  return { name: "exec_command", args: { description: "d", cmd } };
}

async function exists(workspaceDir: string, name: string): Promise<boolean> {
  return readFile(join(workspaceDir, name)).then(
    () => true,
    () => false,
  );
}
