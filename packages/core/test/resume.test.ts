import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { defineTool } from "../src/environment/agent-tool.ts";
import type { CreateLLM } from "../src/llm/contract.ts";
import { userData, userImage, userText } from "../src/omnimessage/build.ts";
import type { OmniMessage, OmniPayload } from "../src/omnimessage/message.ts";
import { restoreSession } from "../src/session/resume/restore-session.ts";
import type { Session } from "../src/session/session.ts";
import { ruleViolations, type ScriptedTurn, scriptedLLM, type TempAgent, tempAgent } from "../src/testing/index.ts";
import { modelOver, PIXEL, PIXEL_DATA, strict } from "./support/adapter-kit.ts";
import { ask } from "./support/ask.ts";
import { conversationBreaches, cutsOf } from "./support/damaged-trace.ts";
import { remembering } from "./support/remembering.ts";

const allow = { approve: async () => "allow" as const };

test("a resumed session sends what the live one would have sent, message for message (PC-039)", async () => {
  await using home = await tempAgent({ tools: [picture, slow] });
  const model = witness(...CONVERSATION, "after");
  const live = await home.agent.createSession({ ...home, createLLM: model.createLLM });
  await converse(live);
  const traceFile = live.traceFile;
  const lines = readFileSync(traceFile, "utf8");
  await drain(live.run([userText("and now?")], allow));
  const wanted = model.sent();
  await live.dispose();
  // The same moment again: the record as it was before the last prompt.
  writeFileSync(traceFile, lines);

  const later = witness("after");
  const resumed = await home.agent.resumeSession(live.sessionId, { createLLM: later.createLLM });
  await drain(resumed.run([userText("and now?")], allow));

  expect(later.sent()).toEqual(wanted);
  expect(wanted.length).toBeGreaterThan(20);
  expect(resumed.sessionId).toBe(live.sessionId);
  expect(resumed.traceFile).toBe(traceFile);
  expect(resumed.spent.turns).toBe(live.spent.turns);
  const record = await recordOf(home, live.sessionId);
  expect(ruleViolations(record, { trace: true })).toEqual([]);
  expect(record.filter(({ type }) => type === "session_meta")).toHaveLength(1);
  expect(record.filter(({ payload }) => payload.type === "tool_list_ready")).toHaveLength(1);
});

test("opening a session that is not run writes nothing", async () => {
  await using home = await tempAgent({ createLLM: () => scriptedLLM("hello") });
  const session = await home.agent.createSession(home);
  await drain(session.run([userText("hi")]));
  await session.dispose();
  const before = readFileSync(session.traceFile);
  await (await home.agent.resumeSession(session.sessionId)).dispose();
  expect(readFileSync(session.traceFile).equals(before)).toBe(true);
});

test("whatever the last request of a killed session had brought goes to the model with the next input", async () => {
  await using home = await tempAgent({ tools: [picture, slow] });
  const model = witness({ text: "let me see", calls: [call("picture"), call("slow", "c2")] }, "done");
  const live = await home.agent.createSession({ ...home, createLLM: model.createLLM });
  await drain(live.run([userText("look"), userImage(PIXEL)], allow));
  await live.dispose();
  const lines = readFileSync(live.traceFile, "utf8").split("\n");

  const cutAfter = async (type: string, nth: number): Promise<string> => {
    const places = lines.flatMap((line, at) => (line.includes(`"type":"${type}"`) ? [at] : []));
    const kept = lines.slice(0, (places.at(nth) ?? 0) + 1);
    // A record that was being written.
    writeFileSync(live.traceFile, `${kept.join("\n")}\n{"timestamp":"2026-`);
    const later = witness("fine");
    const warnings: string[] = [];
    const onWarning = ({ message }: { message: string }): void => void warnings.push(message);
    const resumed = await home.agent.resumeSession(live.sessionId, { createLLM: later.createLLM, onWarning });
    expect(warnings).toEqual([expect.stringContaining("the last record was cut off when it was written")]);
    await drain(resumed.run([userText("go on")], allow));
    await resumed.dispose();
    const record = await recordOf(home, live.sessionId);
    expect(ruleViolations(record, { trace: true })).toEqual([]);
    return later
      .sent()
      .map(({ payload }) => textIn(payload))
      .join("\n");
  };

  // Before the reply: the input stands as it was given.
  expect(await cutAfter("request_begin", 0)).toBe(`look\n${PIXEL}\ngo on\nfine`);
  // In the reply, and its first call had been let through: nobody knows what it did.
  const broken = await cutAfter("approval_decision", 0);
  expect(broken).toMatch(/turn_aborted[\s\S]*look[\s\S]*let me see[\s\S]*picture[\s\S]*its effect is unknown/);
  expect(broken).not.toContain("(not run)");
  // The reply is committed, one call has its output and the other none.
  const committed = await cutAfter("request_end", 0);
  expect(committed).toContain("[interrupted: the harness stopped while this ran; its effect is unknown]");
  expect(committed).not.toContain("turn_aborted");
});

test("wherever a trace is cut off and whatever line of it is lost, all four services take the history", async () => {
  await using home = await tempAgent({ tools: [picture, slow] });
  const model = witness(...CONVERSATION);
  const live = await home.agent.createSession({ ...home, createLLM: model.createLLM });
  await converse(live);
  await live.dispose();
  const lines = readFileSync(live.traceFile, "utf8").trimEnd().split("\n");
  const directory = mkdtempSync(join(tmpdir(), "rookery-cut-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "001.jsonl");

  const prompts = new Map<string, { history: readonly OmniMessage[]; input: readonly OmniMessage[] }>();
  const collect = async (text: string): Promise<void> => {
    writeFileSync(file, text);
    const { log } = await restoreSession([file]);
    const { history } = log;
    log.add(userText("go on"));
    const prompt = { history, input: log.nextInput() };
    expect(conversationBreaches([...history, ...prompt.input])).toEqual([]);
    prompts.set(JSON.stringify([plain(history), plain(prompt.input)]), prompt);
  };
  const whole = `${lines.join("\n")}\n`;
  const head = `${lines[0]}\n`;
  for (const at of cutsOf(lines)) await collect(whole.slice(0, Math.max(at, head.length)));
  for (let lost = 1; lost < lines.length; lost++) {
    await collect(`${lines.toSpliced(lost, 1, "{damaged").join("\n")}\n`);
  }
  const damage = fc.record({
    lost: fc.uniqueArray(fc.integer({ min: 1, max: lines.length - 1 }), { minLength: 2, maxLength: 8 }),
    cut: fc.integer({ min: head.length, max: whole.length }),
  });
  for (const { lost, cut } of fc.sample(damage, { numRuns: 60, seed: 7 })) {
    const kept = lines.filter((_, at) => !lost.includes(at)).join("\n");
    await collect(kept.slice(0, Math.max(cut, head.length)));
  }
  expect(prompts.size).toBeGreaterThan(60);

  const protocols = ["openai-chat", "openai-responses", "anthropic-messages", "google"] as const;
  for (const [n, clientType] of protocols.entries()) {
    const server = await strict({ turns: ["fine"], loop: true });
    for (const { history, input } of [...prompts.values()].filter((_, at) => at % protocols.length === n)) {
      const llm = modelOver(clientType)(server);
      llm.setHistory(history);
      expect((await ask(llm, ...input)).outcome.status).toBe("completed");
    }
    expect(server.violations).toEqual([]);
  }
}, 60_000);

test("a resumed session knows which files changed since it read them, and keeps call ids apart (PC-050)", async () => {
  await using home = await tempAgent();
  const path = join(home.workspaceDir, "a.txt");
  writeFileSync(path, "one\n");
  const reading = { calls: [{ name: "read_file", args: { file_path: "a.txt" }, id: "same" }] };
  const first = await home.agent.createSession({ ...home, createLLM: () => scriptedLLM(reading, "read") });
  await drain(first.run([userText("read")], allow));
  await first.dispose();
  writeFileSync(path, "somebody else\n");
  const ids: string[] = [];
  const createLLM: CreateLLM = ({ toolCallIds }) => {
    ids.push(toolCallIds?.allocate("same") ?? "");
    const writing = { calls: [{ name: "write_file", args: { file_path: "a.txt", content: "mine\n" }, id: "w" }] };
    return scriptedLLM(writing, "done");
  };
  const resumed = await home.agent.resumeSession(first.sessionId, { createLLM });
  const seen = await drain(resumed.run([userText("write")], allow));
  expect(JSON.stringify(seen)).toContain("the file changed since this session last saw it");
  expect(readFileSync(path, "utf8")).toBe("somebody else\n");
  expect(ids).toEqual(["same#2"]);
});

test("long output lands in the session's own scratchpad, made or resumed, and what did before can still be read (PC-071, PT-061)", async () => {
  await using home = await tempAgent();
  const print = (id: string): object => ({ name: "exec_command", args: { cmd: "seq 1 20000", description: id }, id });
  const first = await home.agent.createSession({
    ...home,
    createLLM: () => scriptedLLM({ calls: [print("a")] } as ScriptedTurn, "done"),
  });
  const archived = archiveIn(await drain(first.run([userText("print")], allow)));
  await first.dispose();
  expect(archived).toContain(`/scratchpad/${first.sessionId}/`);
  const tail = { name: "read_file", args: { file_path: archived, offset: 20_000 }, id: "b" };
  const createLLM: CreateLLM = () => scriptedLLM({ calls: [tail, print("c")] } as ScriptedTurn, "done");
  const resumed = await home.agent.resumeSession(first.sessionId, { createLLM });
  const messages = await drain(resumed.run([userText("again")], allow));
  expect(JSON.stringify(messages)).toContain("20000\\t20000");
  const later = archiveIn(messages);
  expect(later).toContain(`/scratchpad/${first.sessionId}/`);
  expect(later).not.toBe(archived);
});

test("outputs that nobody called for, or that are there twice, are no part of what is sent", async () => {
  await using home = await tempAgent({ tools: [picture, slow] });
  const live = await home.agent.createSession({ ...home, createLLM: witness(...CONVERSATION).createLLM });
  await converse(live);
  await live.dispose();
  const lines = readFileSync(live.traceFile, "utf8").trimEnd().split("\n");
  const { log: whole } = await restoreSession([live.traceFile]);
  const at = lines.findIndex((line) => line.includes('"tool_call_output"'));
  const copies = Array.from({ length: 20 }, (_, n) =>
    (lines[at] ?? "").replaceAll('"c1"', n < 10 ? '"c1"' : `"x${n}"`),
  );
  writeFileSync(live.traceFile, `${lines.toSpliced(at + 1, 0, ...copies).join("\n")}\n`);
  const { log } = await restoreSession([live.traceFile]);
  expect(plain(log.history)).toEqual(plain(whole.history));
  expect(log.tail).toHaveLength(whole.tail.length);
});

test("a session that cannot be resumed says why and stays as it is", async () => {
  await using home = await tempAgent({ createLLM: () => scriptedLLM("hello") });
  const session = await home.agent.createSession(home);
  await drain(session.run([userText("hi")]));
  const { sessionId, traceFile } = session;
  const refused = (options: object = {}): Promise<unknown> => home.agent.resumeSession(sessionId, options);
  await expect(refused()).rejects.toMatchObject({
    code: "session-locked",
    message: `session ${sessionId} is open in this process`,
  });
  await session.dispose();
  await expect(refused({ provider: "custom", modelId: "other" })).rejects.toMatchObject({ code: "usage" });
  await expect(refused({ workspaceDir: tmpdir() })).rejects.toMatchObject({ code: "usage" });
  await expect(refused({ systemPrompt: "another" })).rejects.toMatchObject({ code: "usage" });
  await expect(home.agent.resumeSession("session-2020-01-01-00-00-00-00000000")).rejects.toMatchObject({
    code: "session-not-found",
  });
  const moved = `${home.workspaceDir}-moved`;
  renameSync(home.workspaceDir, moved);
  await expect(refused()).rejects.toMatchObject({
    code: "workspace-missing",
    hint: "put it back to resume its session, or start a new one",
  });
  symlinkSync(moved, home.workspaceDir);
  await (await home.agent.resumeSession(sessionId, home)).dispose();
  const [head = ""] = readFileSync(traceFile, "utf8").split("\n");
  writeFileSync(traceFile, `${head.replace('"format":1', '"format":2')}\n`);
  await expect(refused()).rejects.toMatchObject({
    code: "trace-corrupt",
    message: expect.stringMatching(/does not begin with a session_meta; line 1 is not a message: .*format/),
  });
  writeFileSync(traceFile, `{"torn`);
  await expect(refused()).rejects.toMatchObject({ code: "trace-corrupt" });
  appendFileSync(traceFile, "\n");
  expect(statSync(traceFile).size).toBe(7);
  // Nothing of all this has kept the lock.
  await expect(refused()).rejects.toMatchObject({ code: "trace-corrupt" });
});

const picture = defineTool({
  name: "picture",
  label: "Picture",
  description: "Shows a picture.",
  parameters: { type: "object", properties: {} },
  risk: "read_only",
  execute: async () => ({
    content: [
      { type: "text", text: "here" },
      { type: "image", data: PIXEL_DATA, mimeType: "image/png" },
    ],
    details: { long: "x".repeat(1000) },
  }),
});

const slow = defineTool({
  name: "slow",
  label: "Slow",
  description: "Takes a while.",
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [{ type: "text", text: "slow result" }], details: undefined }),
});

const CONVERSATION: readonly ScriptedTurn[] = [
  { thinking: "hm", text: "looking", calls: [call("picture"), call("slow", "c2")] },
  {
    text: "half a reply",
    calls: [call("slow", "c3")],
    outcome: { status: "malformed", message: "broke off", retryAfterMs: 0 },
  },
  { text: "seen", calls: [call("unknown", "c4"), { name: "slow", args: "{broken", id: "c5" }] },
  "that is all",
  { text: "interrupted in", thinking: "t", hang: true },
  { calls: [call("slow", "c6")] },
  "the end",
];

/** Tools, a retry with calls that ran, calls that cannot run, an interruption, and images of all kinds. */
async function converse(session: Session): Promise<void> {
  await drain(session.run([userText("begin"), userImage(PIXEL), userData(PIXEL_DATA, "image/png")], allow));
  const stop = new AbortController();
  const run = session.run([userText("stop me"), userImage(PIXEL)], { ...allow, signal: stop.signal });
  for await (const { payload } of run) if (payload.type === "text") stop.abort();
  await drain(session.run([userText("again")], allow));
}

function call(name: string, id = "c1"): { name: string; args: object; id: string } {
  return { name, args: {}, id };
}

/** Where the text of an output that was cut has been saved. */
function archiveIn(messages: readonly OmniMessage[]): string {
  return /full text saved to (\/[^\]]+)\]/.exec(messages.map(({ payload }) => textIn(payload)).join("\n"))?.[1] ?? "";
}

/** A model that remembers what it was given and what it said, as a provider would see it. */
function witness(...turns: readonly ScriptedTurn[]): { createLLM: CreateLLM; sent(): { payload: OmniPayload }[] } {
  const llm = scriptedLLM(...turns);
  let seen: OmniMessage[] = [];
  return {
    sent: () => plain(seen),
    createLLM: (_config, history) => {
      seen = [...history];
      return remembering(llm, seen);
    },
  };
}

/** Without what is never sent. */
function plain(messages: readonly OmniMessage[]): { payload: OmniPayload }[] {
  return messages.map(({ payload }) => {
    const { details: _, usage: __, ...rest } = payload as { details?: unknown; usage?: unknown } & OmniPayload;
    return { payload: rest };
  });
}

function textIn(payload: OmniPayload): string {
  const { text, output, image_url: image } = payload as { text?: string; output?: string; image_url?: string };
  return text ?? output ?? image ?? payload.type ?? "";
}

async function drain(run: AsyncGenerator<OmniMessage>): Promise<OmniMessage[]> {
  const messages: OmniMessage[] = [];
  for await (const message of run) messages.push(message);
  return messages;
}

async function recordOf({ agent }: TempAgent, sessionId: string): Promise<OmniMessage[]> {
  const messages: OmniMessage[] = [];
  for await (const entry of agent.readSession(sessionId)) if ("message" in entry) messages.push(entry.message);
  return messages;
}
