import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { SessionOptions } from "../src/agent/agent-options.ts";
import { defineTool } from "../src/environment/agent-tool.ts";
import type { CreateLLM } from "../src/llm/contract.ts";
import { userText } from "../src/omnimessage/build.ts";
import { isType } from "../src/omnimessage/guards.ts";
import type { OmniMessage } from "../src/omnimessage/message.ts";
import type { Session } from "../src/session/session.ts";
import {
  collectRun,
  ruleViolations,
  type ScriptedTurn,
  scriptedLLM,
  type TempAgent,
  tempAgent,
} from "../src/testing/index.ts";
import { remembering } from "./support/remembering.ts";

const allow = { approve: async () => "allow" as const };
const FULL = { usage: { total: 1000 } };
const SETTINGS = { maxContextTokens: 1000, keepOutputTokens: -1 };
const SUMMARY = "[summary]the story so far[/summary]";
const CALL = { calls: [{ name: "say", args: {} }] };

test("a full context is summarised in the middle of a task, and the task goes on from the summary", async () => {
  await using scene = await open([{ ...CALL, ...FULL }, SUMMARY], ["done"]);
  const { messages, outcome } = await scene.run("begin");
  expect(outcome).toMatchObject({ status: "completed", text: "done", turns: 2 });
  expect(scene.asked(0)).toEqual([["begin"], ["said", expect.stringContaining("[summary]")]]);
  // The request that asks for the summary has the same beginning as the one before: nothing was offered anew.
  expect(scene.models[0]?.requests[1]).not.toHaveProperty("tools");
  expect(scene.asked(1)).toEqual([["[context_summary]\nthe story so far\n[/context_summary]"]]);
  expect(shown(messages, "compaction_begin")).toEqual([
    ["compaction_begin", { reason: "context", mode: "summarize", context: 1000, turns: 1 }],
    ["partial_text"],
    ["partial_text"],
    ["partial_text"],
    ["text"],
    ["token_usage"],
    ["compaction_end", { reason: "context", mode: "summarize", status: "completed", attempt: 1 }],
  ]);
  expect(scene.files()).toEqual(["001.jsonl", "002.jsonl"]);
  expect(
    scene
      .record("002.jsonl")
      .slice(0, 3)
      .map(({ payload, type }) => payload.type ?? type),
  ).toEqual(["session_meta", "text", "tool_list_ready"]);
  // What the session took goes on being counted.
  const usages = messages.filter((message) => isType(message, "token_usage"));
  expect(usages).toHaveLength(3);
  expect(outcome.usage.total).toBe(1000 + 15 + 15);
});

test("at the end of a task the summary waits for the next prompt, and steering comes behind it", async () => {
  await using scene = await open([{ text: "done", ...FULL }, SUMMARY], ["again", "and that"]);
  await scene.run("begin");
  expect(scene.session.compactability).toBe("just-compacted");
  await scene.run("next");
  expect(scene.asked(1)).toEqual([["[context_summary]\nthe story so far\n[/context_summary]", "next"]]);
});

test("a session that was resumed behind a summary says what the live one would have said", async () => {
  await using scene = await open([{ ...CALL, ...FULL }, SUMMARY], ["done", "more"], { keepRecentTokens: 1000 });
  await scene.run("begin");
  await scene.session.dispose();
  const later = scriptedLLM("fine");
  let history: readonly OmniMessage[] = [];
  const createLLM: CreateLLM = (_config, given) => {
    history = given;
    return later;
  };
  const resumed = await scene.home.agent.resumeSession(scene.session.sessionId, { createLLM });
  await collectRun(resumed, [userText("go on")], allow);
  expect([...history, ...(later.requests[0]?.newMessages ?? [])].map(textOf)).toEqual([
    "[context_summary]\nthe story so far\n[/context_summary]",
    "begin",
    "say {}",
    "said",
    "done",
    "go on",
  ]);
  expect(resumed.traceFile).toMatch(/002\.jsonl$/);
});

test("the turns that are kept begin with what was said or with a whole reply, never with an output", async () => {
  const long = { text: "x".repeat(4000) };
  await using scene = await open([long, { ...CALL, ...FULL }, SUMMARY], ["done"], { keepRecentTokens: 20 });
  await scene.run("one");
  await scene.run("two");
  expect(scene.histories[1]?.map(textOf)).toEqual([
    "[context_summary]\nthe story so far\n[/context_summary]",
    "two",
    "say {}",
  ]);
  expect(scene.asked(1)).toEqual([["said"]]);
});

test("old outputs are shortened first, where that is enough: the latest stay, and what names the archive stays", async () => {
  await using scene = await open(
    [{ calls: [{ name: "long", args: {} }] }, { ...CALL, usage: { total: 1000 } }],
    ["done"],
    {
      maxContextTokens: 1000,
      keepOutputTokens: 5,
    },
  );
  const { messages, outcome } = await scene.run("begin");
  expect(outcome.status).toBe("completed");
  expect(shown(messages, "compaction_begin")).toEqual([
    ["compaction_begin", { reason: "context", mode: "prune", context: 1000, turns: 2 }],
    ["compaction_end", { reason: "context", mode: "prune", status: "completed" }],
  ]);
  const [, , output] = scene.histories[1] ?? [];
  expect(textOf(output)).toMatch(/^L+\n\[\.\.\. \d+ characters were left out to save room \.\.\.\]\nL+/);
  expect(textOf(output)).toContain("[output truncated: 20000 characters in all; full text saved to /");
  expect(scene.asked(1)).toEqual([["said"]]);
});

test("a summary that is empty or calls tools is asked for again, with a note; each call is answered", async () => {
  const replies = [{ ...CALL, ...FULL }, CALL, { thinking: "only that" }, "[summary][/summary]rescued"];
  await using scene = await open(replies, ["done"]);
  const { outcome } = await scene.run("begin");
  expect(outcome.status).toBe("completed");
  expect(scene.asked(0).slice(2)).toEqual([
    ["[not run: no tool is run while a summary is made]", expect.stringContaining("could not be used")],
    [expect.stringContaining("could not be used")],
  ]);
  expect(scene.asked(1)).toEqual([["[context_summary]\nrescued\n[/context_summary]"]]);
  expect(ruleViolations(scene.record("001.jsonl"), { trace: true })).toEqual([]);
});

test("where no summary can be had the context stays, the task goes on, and a resumed session knows what was said", async () => {
  const useless = [...Array.from({ length: 5 }, () => ({ thinking: "nothing" })), CALL];
  await using scene = await open([{ ...CALL, ...FULL }, ...useless, { text: "done all the same", ...FULL }], []);
  const { messages, outcome } = await scene.run("begin");
  expect(outcome).toMatchObject({ status: "completed", text: "done all the same" });
  expect(messages.filter(({ payload }) => payload.type === "compaction_end")).toHaveLength(1);
  expect(shown(messages, "compaction_begin").at(-1)).toEqual([
    "compaction_end",
    expect.objectContaining({ status: "failed", attempt: 6, error_message: "the model gave no summary" }),
  ]);
  // What was committed inside is a part of the conversation, and no request goes out without something new.
  expect(scene.asked(0).at(-1)).toEqual([
    "[not run: no tool is run while a summary is made]",
    "[no summary was made; the conversation goes on as it is]",
  ]);
  expect(ruleViolations(scene.record("001.jsonl"), { trace: true })).toEqual([]);
  // Its outputs are not sent twice.
  expect(
    scene
      .asked(0)
      .flat()
      .filter((text) => text === "said"),
  ).toHaveLength(1);
  expect(await scene.resumed("and?")).toEqual([...scene.conversation(0), "and?"]);
});

test("that no summary was made is not said behind one that was made later", async () => {
  const useless = Array.from({ length: 6 }, () => ({ thinking: "nothing" }));
  await using scene = await open([{ text: "done", ...FULL }, ...useless], [SUMMARY], ["more"]);
  await scene.run("begin");
  expect((await drain(scene.session.compact()))[1]).toEqual({ status: "completed" });
  await scene.run("next");
  const said = ["[context_summary]\nthe story so far\n[/context_summary]", "next"];
  expect(scene.asked(2)).toEqual([said]);
  expect(await scene.resumed("and?")).toEqual([...said, "more", "and?"]);
});

test("a summary whose request never succeeds leaves nothing behind in the conversation", async () => {
  const refused = { outcome: { status: "failed", permanent: true, message: "no" } } as const;
  await using scene = await open([{ ...CALL, ...FULL }, refused, "done"], []);
  const { outcome } = await scene.run("begin");
  expect(outcome).toMatchObject({ status: "completed", text: "done" });
  expect(scene.asked(0)).toEqual([["begin"], ["said", expect.stringContaining("[summary]")], ["said"]]);
  expect(await scene.resumed("and?")).toEqual(["begin", "say {}", "said", "done", "and?"]);
});

test("a session that was killed while it compacted, or before the next context was written, goes on as if it had not begun", async () => {
  await using scene = await open([{ ...CALL, ...FULL }, SUMMARY], ["done"]);
  await scene.run("begin");
  await scene.session.dispose();
  rmSync(scene.path("002.jsonl"));
  const lines = readFileSync(scene.path("001.jsonl"), "utf8").trimEnd().split("\n");
  const begin = lines.findIndex((line) => line.includes("compaction_begin"));
  for (let length = lines.length; length > begin; length--) {
    writeFileSync(scene.path("001.jsonl"), `${lines.slice(0, length).join("\n")}\n`);
    const conversation = await scene.resumed("go on");
    expect(conversation.slice(0, 3)).toEqual(["begin", "say {}", "said"]);
    expect(conversation.at(-1)).toBe("go on");
    expect(ruleViolations(scene.record("001.jsonl"), { trace: true })).toEqual([]);
  }
});

test("a context whose successor cannot be recorded goes on as it is, and one task pays for one summary", async () => {
  const again = ["a", "b"].map((id) => ({ ...calls(id), ...FULL }));
  await using scene = await open([{ ...CALL, ...FULL }, SUMMARY], [...again, "done"]);
  // Where the draft of the next file would be written.
  mkdirSync(scene.path("002.jsonl.tmp/x"), { recursive: true });
  const { messages, outcome } = await scene.run("begin");
  expect(outcome).toMatchObject({ status: "completed", text: "done", turns: 4 });
  expect(messages.filter(({ payload }) => payload.type === "compaction_begin")).toHaveLength(1);
  expect(scene.histories[1]?.map(textOf)).toEqual(["begin", "say {}"]);
  expect(scene.asked(1)).toEqual([["said"], ["said"], ["said"]]);
});

test("a request that does not fit is repaired by one compaction and sent again", async () => {
  const overflow = { outcome: { status: "failed", permanent: true, overflow: true, message: "too long" } } as const;
  await using scene = await open([CALL, overflow], [SUMMARY], ["done"]);
  const { messages, outcome } = await scene.run("begin");
  expect(outcome).toMatchObject({ status: "completed", text: "done" });
  expect(shown(messages, "compaction_begin")[0]).toEqual([
    "compaction_begin",
    expect.objectContaining({ reason: "overflow", mode: "summarize", model: "custom/custom" }),
  ]);
  expect(scene.asked(1)).toEqual([["said", expect.stringContaining("[summary]")]]);
  expect(scene.asked(2)).toEqual([["[context_summary]\nthe story so far\n[/context_summary]"]]);
});

test("what was not answered when a request did not fit is said again behind the summary, word for word", async () => {
  const overflow = { outcome: { status: "failed", permanent: true, overflow: true, message: "too long" } } as const;
  await using scene = await open(["hello", overflow], [SUMMARY], ["done"]);
  await scene.run("begin");
  await scene.run("a long question");
  expect(scene.asked(1)).toEqual([[expect.stringContaining("[summary]")]]);
  expect(scene.asked(2)).toEqual([["[context_summary]\nthe story so far\n[/context_summary]", "a long question"]]);
});

test("turns that are kept never fill the next context, however many are to be", async () => {
  const overflow = { outcome: { status: "failed", permanent: true, overflow: true, message: "too long" } } as const;
  const long = { text: "x".repeat(1800) };
  const kept = { keepRecentTokens: 1_000_000 };
  await using full = await open([{ text: "x".repeat(2400), ...FULL }, SUMMARY], [], kept);
  await full.run("begin");
  await using scene = await open([long, overflow], [SUMMARY], ["done"], kept);
  await scene.run("begin");
  await scene.run("and?");
  for (const carried of [full.record("002.jsonl"), scene.record("002.jsonl")]) {
    expect(carried.map(textOf).filter((text) => text.startsWith("xxx"))).toEqual([]);
  }
});

test("a conversation that does not fit whatever is done ends the task and says so; with compaction off nothing is tried", async () => {
  const overflow = { outcome: { status: "failed", permanent: true, overflow: true, message: "too long" } } as const;
  await using scene = await open(["hi", overflow], [SUMMARY], [overflow], [SUMMARY], [overflow]);
  await scene.run("hello");
  const { outcome } = await scene.run("begin");
  expect(outcome).toMatchObject({ status: "failed", code: "context-overflow" });
  await using first = await open([overflow]);
  expect((await first.run("begin")).outcome.message).toMatch(
    /too long.*the system prompt and the tools alone take about \d+ of 128000 tokens/,
  );
  await using off = await open(["hi", overflow], [], { maxContextTokens: 0 });
  await off.run("hello");
  expect((await off.run("begin")).messages.filter(({ payload }) => payload.type === "compaction_begin")).toEqual([]);
});

test("a long prompt that did not fit, behind a summary either, is said again shortened, live and resumed, and the next one works", async () => {
  const overflow = { outcome: { status: "failed", permanent: true, overflow: true, message: "too long" } } as const;
  await using scene = await open(["hi", overflow], [SUMMARY], [overflow, "fine"]);
  await scene.run("hello");
  expect((await scene.run("x".repeat(50_000))).outcome.code).toBe("context-overflow");
  expect((await scene.run("again")).outcome.status).toBe("completed");
  const shortened = expect.stringMatching(/^x{8000}\n\[.*34000 characters.*\]\nx{8000}$/);
  const said = ["[context_summary]\nthe story so far\n[/context_summary]", shortened, "again"];
  expect(scene.asked(2).at(-1)).toEqual(said);
  expect(await scene.resumed("and?")).toEqual([...said, "fine", "and?"]);
});

test("a context that is as full behind its summary as before is left alone, with a warning", async () => {
  const warnings: string[] = [];
  const second = [
    { ...calls("a"), ...FULL },
    { ...calls("b"), ...FULL },
    { text: "done", ...FULL },
  ];
  await using scene = await open([{ ...CALL, ...FULL }, SUMMARY], second, {}, ({ code }) => warnings.push(code));
  const { messages, outcome } = await scene.run("begin");
  expect(outcome.status).toBe("completed");
  expect(messages.filter(({ payload }) => payload.type === "compaction_begin")).toHaveLength(1);
  expect(warnings).toEqual(["compaction-no-progress"]);
});

test("a call right behind the records that a context was started with is checked like any other", async () => {
  await using scene = await open([{ ...CALL, ...FULL }, SUMMARY], [calls("a"), "done"], { keepRecentTokens: 1000 });
  // What a context is started with is left out of the trace that the rules are checked on.
  expect((await scene.run("begin")).outcome.text).toBe("done");
});

test("after so many turns the context is compacted, whatever it takes; discard waits for the end of the task", async () => {
  await using scene = await open([CALL, SUMMARY], [calls("a"), SUMMARY], ["done"], { maxSessionTurns: 1 });
  expect((await scene.run("begin")).outcome.text).toBe("done");
  await using discard = await open([CALL, "done"], ["again"], { maxSessionTurns: 1, mode: "discard" });
  const { messages } = await discard.run("begin");
  expect(shown(messages, "compaction_begin")).toEqual([
    ["compaction_begin", expect.objectContaining({ reason: "turns", mode: "discard", turns: 2 })],
    ["compaction_end", { reason: "turns", mode: "discard", status: "completed" }],
  ]);
  await discard.run("next");
  expect(discard.asked(1)).toEqual([["next"]]);
  expect(discard.histories[1]).toEqual([]);
});

test("compaction can be asked for, says when there is nothing to do, and can be interrupted", async () => {
  await using scene = await open([CALL, "done", { text: "half", hang: true }, SUMMARY], ["fine"]);
  expect(scene.session.compactability).toBe("empty");
  expect(await drain(scene.session.compact())).toEqual([[], { status: "completed" }]);
  await scene.run("begin");
  expect(scene.session.compactability).toBe("ok");
  const stop = new AbortController();
  const interrupted = scene.session.compact({ signal: stop.signal });
  const types: unknown[] = [];
  for (let step = await interrupted.next(); ; step = await interrupted.next()) {
    if (step.done) {
      expect(step.value).toEqual({ status: "aborted" });
      break;
    }
    types.push(step.value.payload.type);
    // It would never be delivered.
    expect(scene.session.steer([userText("meanwhile")])).toBe(false);
    stop.abort();
  }
  expect(types).toEqual(["compaction_begin", "compaction_end"]);
  const [messages, outcome] = await drain(scene.session.compact());
  expect(outcome).toEqual({ status: "completed" });
  expect(messages[0]?.payload).toMatchObject({ reason: "manual", turns: 2 });
  await scene.run("next");
  expect(scene.asked(1)).toEqual([["[context_summary]\nthe story so far\n[/context_summary]", "next"]]);
});

test("summaries are made at the level of thinking that the session was made with (PC-084)", async () => {
  await using scene = await open([{ ...CALL, ...FULL }, SUMMARY], ["done"]);
  await scene.run("begin", { thinkingLevel: "high" });
  expect(scene.models[0]?.requests.map(({ thinkingLevel }) => thinkingLevel)).toEqual(["high", undefined]);
});

test("the call ids of a session stay apart from one context to the next (PC-037)", async () => {
  const given: unknown[] = [];
  await using home = await tempAgent({ tools: [say] });
  const createLLM: CreateLLM = ({ toolCallIds }) => {
    given.push(toolCallIds);
    const turns: ScriptedTurn[] = given.length === 1 ? [{ ...CALL, ...FULL }, SUMMARY] : ["done"];
    return scriptedLLM(...turns);
  };
  const session = await home.agent.createSession({ ...home, createLLM, compaction: SETTINGS });
  await collectRun(session, [userText("begin")], allow);
  expect(given).toHaveLength(2);
  expect(given[0]).toBeDefined();
  expect(given[0]).toBe(given[1]);
});

test("another model can be named for summaries; the session's own is not asked", async () => {
  const models: Record<string, ReturnType<typeof scriptedLLM>[]> = {};
  await using home = await tempAgent({ tools: [say] });
  const createLLM: CreateLLM = ({ modelId, tools }) => {
    const before = models[modelId] ?? [];
    const turns: ScriptedTurn[] =
      modelId === "small" ? [SUMMARY] : before.length === 0 ? [{ ...CALL, ...FULL }] : ["done"];
    const llm = scriptedLLM(...turns);
    models[modelId] = [...before, llm];
    expect(tools.length > 0).toBe(modelId !== "small");
    return llm;
  };
  const compaction = { ...SETTINGS, model: { provider: "custom", modelId: "small" } };
  const session = await home.agent.createSession({ ...home, createLLM, compaction });
  const { messages, outcome } = await collectRun(session, [userText("begin")], allow);
  expect(outcome.text).toBe("done");
  expect(shown(messages, "compaction_begin")[0]).toEqual([
    "compaction_begin",
    expect.objectContaining({ model: "custom/small" }),
  ]);
  expect(models.small?.[0]?.requests.map(({ newMessages }) => newMessages.map(textOf))).toEqual([
    ["said", expect.stringContaining("[summary]")],
  ]);
});

test("another model that summarises gets neither the thinking of the session's own nor its level of it", async () => {
  const opened: { modelId: string; thinkingLevel: unknown; history: readonly OmniMessage[] }[] = [];
  const turns: Record<string, ScriptedTurn[]> = {
    custom: [{ thinking: "hm", ...CALL, ...FULL }, "done"],
    small: [SUMMARY],
  };
  await using home = await tempAgent({ tools: [say] });
  const createLLM: CreateLLM = ({ modelId, thinkingLevel }, history) => {
    opened.push({ modelId, thinkingLevel, history });
    return scriptedLLM(...(turns[modelId]?.splice(0, 1) ?? []), ...(modelId === "custom" ? ["done"] : []));
  };
  const compaction = { ...SETTINGS, model: { provider: "custom", modelId: "small" } };
  const session = await home.agent.createSession({ ...home, createLLM, compaction, thinkingLevel: "high" });
  await collectRun(session, [userText("begin")], allow);
  const summariser = opened.find(({ modelId }) => modelId === "small");
  expect(summariser?.thinkingLevel).toBeUndefined();
  expect(summariser?.history.map(({ payload }) => payload.type)).toEqual(["text", "tool_call"]);
  expect(opened[0]?.thinkingLevel).toBe("high");
});

test("a model for summaries of another provider does not take the address of the session's own, and is named where it cannot be used", async () => {
  const env = { OTHER_API_KEY: "other", ANTHROPIC_API_KEY: "anthropic" };
  await using home = await tempAgent({ env });
  const own = { provider: "anthropic", modelId: "claude-x", baseUrl: "http://127.0.0.1:9/own" };
  const open = (provider: string): Promise<Session> =>
    home.agent.createSession({ ...home, ...own, compaction: { model: { provider, modelId: "small" } } });
  await expect(open("other")).rejects.toMatchObject({
    message: expect.stringMatching(/^the model for summaries \(compaction\.model\): .*other/),
  });
  expect((await open("anthropic")).meta.model_id).toBe("claude-x");
});

const REFUSED = { outcome: { status: "auth", message: "bad key" } } as const;
const OTHER = { model: { provider: "custom", modelId: "small" } };

test("where the model that summarises fails, the session's own makes the summary", async () => {
  await using scene = await open([{ ...CALL, ...FULL }, SUMMARY], [REFUSED], ["done"], OTHER);
  const { messages, outcome } = await scene.run("begin");
  expect(outcome).toMatchObject({ status: "completed", text: "done" });
  expect(compactions(messages)).toEqual([
    ["compaction_begin", "custom/small"],
    ["compaction_end", "auth"],
    ["compaction_begin", undefined],
    ["compaction_end", "completed"],
  ]);
  expect(scene.asked(2)).toEqual([["[context_summary]\nthe story so far\n[/context_summary]"]]);
});

test("where the session's own fails too, the context stays as it is, and a refused key of the other one ends no task", async () => {
  const fails = { outcome: { status: "failed", permanent: true, message: "no" } } as const;
  await using scene = await open([{ ...CALL, ...FULL }, fails, "done", "more"], [REFUSED], OTHER);
  const { messages, outcome } = await scene.run("begin");
  expect(outcome).toMatchObject({ status: "completed", text: "done" });
  expect(compactions(messages).slice(1)).toEqual([
    ["compaction_end", "auth"],
    ["compaction_begin", undefined],
    ["compaction_end", "failed"],
  ]);
  expect((await scene.run("and?")).outcome).toMatchObject({ status: "completed", text: "more" });
});

function compactions(messages: readonly OmniMessage[]): unknown[] {
  return messages.flatMap((message) => {
    if (isType(message, "compaction_begin")) return [[message.payload.type, message.payload.model]];
    return isType(message, "compaction_end") ? [[message.payload.type, message.payload.status]] : [];
  });
}

function calls(id: string): ScriptedTurn & object {
  return { calls: [{ name: "say", args: {}, id }] };
}

const say = tool("say", "said");
const long = tool("long", "L".repeat(20_000));

function tool(name: string, text: string): ReturnType<typeof defineTool> {
  return defineTool({
    name,
    label: name,
    description: name,
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text" as const, text }], details: undefined }),
  });
}

interface Scene extends AsyncDisposable {
  readonly home: TempAgent;
  readonly session: Session;
  /** One for each model context, in order. */
  readonly models: ReturnType<typeof scriptedLLM>[];
  readonly histories: (readonly OmniMessage[])[];
  run(text: string, options?: object): ReturnType<typeof collectRun>;
  /** What each request to a model brought. */
  asked(model: number): string[][];
  /** All that a model was sent and said. */
  conversation(model: number): string[];
  /** What a session resumed from the trace would send. */
  resumed(text: string): Promise<string[]>;
  files(): string[];
  path(file: string): string;
  record(file: string): OmniMessage[];
}

type Settings = NonNullable<SessionOptions["compaction"]>;

/** A session whose model objects have these scripts, in the order in which they are made. */
async function open(
  ...given: (readonly ScriptedTurn[] | Settings | ((warning: { code: string }) => void))[]
): Promise<Scene> {
  const scripts = given.filter((one): one is readonly ScriptedTurn[] => Array.isArray(one));
  const settings = given.find((one): one is Settings => !Array.isArray(one) && typeof one === "object") ?? {};
  const onWarning = given.find((one) => typeof one === "function") ?? (() => undefined);
  const models: ReturnType<typeof scriptedLLM>[] = [];
  const histories: (readonly OmniMessage[])[] = [];
  const said: OmniMessage[][] = [];
  const createLLM: CreateLLM = (_config, history) => {
    const llm = scriptedLLM(...(scripts[models.length] ?? []));
    const all = [...history];
    models.push(llm);
    histories.push(history);
    said.push(all);
    return remembering(llm, all);
  };
  const home = await tempAgent({ tools: [say, long], createLLM, onWarning });
  const session = await home.agent.createSession({ ...home, compaction: { ...SETTINGS, ...settings } });
  const path = (file: string): string => join(dirname(session.traceFile), file);
  return {
    home,
    session,
    models,
    histories,
    run: (text, options = {}) => collectRun(session, [userText(text)], { ...allow, ...options }),
    asked: (model) => (models[model]?.requests ?? []).map(({ newMessages }) => newMessages.map(textOf)),
    conversation: (model) => (said[model] ?? []).map(textOf),
    async resumed(text) {
      await session.dispose();
      const later = scriptedLLM("fine");
      let all: OmniMessage[] = [];
      const reopened = await home.agent.resumeSession(session.sessionId, {
        createLLM: (_config, history) => {
          all = [...history];
          return later;
        },
      });
      await collectRun(reopened, [userText(text)], allow);
      await reopened.dispose();
      return [...all, ...(later.requests[0]?.newMessages ?? [])].map(textOf);
    },
    files: () => readdirSync(dirname(session.traceFile)).filter((name) => name.endsWith(".jsonl")),
    path,
    record: (file) =>
      readFileSync(path(file), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    [Symbol.asyncDispose]: () => home.dispose(),
  };
}

/** From the first message of a type to the end of its compaction: types, and what the events say. */
function shown(messages: readonly OmniMessage[], from: string): unknown[][] {
  const start = messages.findIndex(({ payload }) => payload.type === from);
  const end = messages.findIndex(({ payload }, at) => at > start && payload.type === "compaction_end");
  return messages.slice(start, end + 1).map(({ payload }) => {
    const { type, ...fields } = payload as { type: string };
    return type.startsWith("compaction") ? [type, fields] : [type];
  });
}

function textOf(message: OmniMessage | undefined): string {
  const payload = (message?.payload ?? {}) as Record<string, string | undefined>;
  if (payload.type === "tool_call") return `${payload.name} ${payload.arguments}`;
  return payload.text ?? payload.output ?? payload.thinking ?? "";
}

async function drain<R>(run: AsyncGenerator<OmniMessage, R>): Promise<[OmniMessage[], R]> {
  const messages: OmniMessage[] = [];
  for (let step = await run.next(); ; step = await run.next()) {
    if (step.done) return [messages, step.value];
    messages.push(step.value);
  }
}
