import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Type } from "typebox";
import { expect, onTestFinished, test } from "vitest";
import { callOf, reply, scriptedStreamFn, testAgent, textOf } from "../../test/support/pi-agent.ts";
import { gatedTool } from "../../test/support/test-tools.ts";
import { defineTool } from "../environment/agent-tool.ts";
import { createBashTool } from "../environment/tools/minimal/bash.ts";
import { createReadTool } from "../environment/tools/minimal/read.ts";
import { ofType } from "../omnimessage/guards.ts";
import type { OmniMessage, ToolUsage } from "../omnimessage/message.ts";
import { readTraceMessages, startProviderServer } from "../testing/index.ts";
import type { Agent } from "./agent.ts";
import type { AgentEvent } from "./agent-event.ts";
import type { ToolResultMessage } from "./agent-message.ts";
import type { StreamFn } from "./stream-fn.ts";

function toolResults(agent: Agent): ToolResultMessage[] {
  return agent.state.messages.filter((message) => message.role === "toolResult");
}

function texts(agent: Agent): string[] {
  return toolResults(agent).map(({ content: [block] }) => (block?.type === "text" ? block.text : ""));
}

/** What the one session of an agent recorded. */
async function recordBelow(cwd: string): Promise<OmniMessage[]> {
  const [file = ""] = (await readdir(cwd, { recursive: true })).filter((name) => /traces.*\.jsonl$/.test(name));
  return await readTraceMessages(join(cwd, file));
}

const lookup = defineTool({
  name: "look_up",
  label: "Look Up",
  description: "Looks up.",
  parameters: Type.Object({ word: Type.String() }),
  execute: async (_id, { word }) => ({
    content: [{ type: "text", text: `${word}: a word` }],
    details: { pages: [7], long: "all about it" },
    usage: {
      input: 42.42,
      output: 1,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 4243,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
  }),
});

const failing = defineTool({
  ...lookup,
  execute: async () => ({
    content: [{ type: "text", text: "Failed to read file: permission denied" }],
    details: { path: "/etc/passwd", error: "EACCES" },
    isError: true,
  }),
});

test("an agent is made of initialState, streamFn and toolExecution; the function gets model, prompt, messages and tools (PI-074)", async () => {
  const model = { id: "m", provider: "p", api: "own", temperature: 1 };
  const seen: unknown[] = [];
  const scripted = scriptedStreamFn([textOf("Looking."), callOf("look_up", { word: "pi" })], [textOf("Done.")]);
  const streamFn: StreamFn = (given, context, options) => {
    seen.push(given, options.signal instanceof AbortSignal);
    return scripted(given, context, options);
  };
  const initialState = { systemPrompt: "Be brief.", model, tools: [lookup] };
  const { agent, warnings } = await testAgent({ initialState, streamFn, toolExecution: "sequential" });
  await agent.prompt("What is pi?");
  expect(seen).toEqual([model, true, model, true]);
  expect(scripted.asked[0]).toMatchObject({
    systemPrompt: "Be brief.",
    messages: [{ role: "user", content: [{ type: "text", text: "What is pi?" }] }],
    tools: [{ name: "look_up", description: "Looks up.", parameters: { type: "object", required: ["word"] } }],
  });
  expect(scripted.asked[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
  expect(agent.state).toMatchObject({ isStreaming: false, errorMessage: undefined, model, systemPrompt: "Be brief." });
  expect(agent.state.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
  expect(warnings).toEqual([]);
});

test("label, details and usage reach people, and no request to a model (PI-002, PI-008, PI-010, PI-087)", async () => {
  const calls = [{ name: "look_up", args: { word: "pi" } }];
  await using server = await startProviderServer({ replies: [{ calls }, "Done."] });
  const model = { id: "local", provider: "custom", api: "openai-completions", baseUrl: server.baseUrl("openai-chat") };
  const { agent, cwd } = await testAgent({ initialState: { model, tools: [lookup] } });
  await agent.prompt("What is pi?");
  const [listed] = ofType(await recordBelow(cwd), "tool_list_ready");
  expect(listed?.payload.tools).toMatchObject([{ name: "look_up", label: "Look Up" }]);
  expect(toolResults(agent)).toMatchObject([
    { toolName: "look_up", details: { pages: [7], long: "all about it" }, usage: { input: 42.42 }, isError: false },
  ]);
  const sent = JSON.stringify(server.requests.map(({ body }) => body));
  expect(sent).toContain("pi: a word");
  for (const kept of ["all about it", "42.42", "Look Up"]) expect(sent).not.toContain(kept);
  const scripted = scriptedStreamFn([callOf("look_up", { word: "pi" })]);
  const other = await testAgent({ initialState: { tools: [lookup] }, streamFn: scripted });
  await other.agent.prompt("What is pi?");
  expect(JSON.stringify(scripted.asked)).not.toMatch(/all about it|42\.42|Look Up/);
});

test("toolExecution sequential makes every tool wait for the one before (PI-073)", async () => {
  const { tool, mostAtOnce } = gatedTool("wait");
  const calls = ["a", "b", "c"].map((key) => callOf("wait", { key }, key));
  const streamFn = scriptedStreamFn(calls);
  const { agent } = await testAgent({ initialState: { tools: [tool] }, streamFn, toolExecution: "sequential" });
  await agent.prompt("Go");
  expect(mostAtOnce()).toBe(1);
  expect(texts(agent)).toEqual(["done a", "done b", "done c"]);
});

test("listeners hear events in order, are waited for, and can leave; what one throws is a warning", async () => {
  const { agent, warnings } = await testAgent({ streamFn: scriptedStreamFn([textOf("one")], [textOf("two")]) });
  const heard: string[] = [];
  const leave = agent.subscribe(async ({ type }, signal) => {
    await new Promise((resolve) => setImmediate(resolve));
    heard.push(`${type} ${signal.aborted}`);
  });
  agent.subscribe(({ type }) => {
    if (type === "agent_end") throw new Error("no room");
  });
  await agent.prompt("Go");
  expect(heard[0]).toBe("agent_start false");
  expect(heard.at(-1)).toBe("agent_end false");
  expect(warnings).toEqual(["a listener failed at agent_end: no room"]);
  leave();
  const before = heard.length;
  await agent.prompt("Go on");
  expect(heard).toHaveLength(before);
});

test("the steps of a streamFn stream as they come", async () => {
  const content = [{ type: "thinking", thinking: "hm" } as const, textOf("Hello")];
  const streamFn: StreamFn = async function* () {
    yield { type: "start" };
    yield { type: "thinking_start", contentIndex: 0 };
    yield { type: "thinking_delta", contentIndex: 0, delta: "hm" };
    yield { type: "thinking_end", contentIndex: 0, content: "hm" };
    yield { type: "text_delta", contentIndex: 1, delta: "Hel" };
    yield { type: "text_delta", contentIndex: 1, delta: "" };
    yield { type: "text_delta", contentIndex: 1, delta: "lo" };
    const usage = {
      input: 3,
      output: 2,
      cacheRead: 5,
      cacheWrite: 0,
      totalTokens: 10,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    };
    yield { type: "done", message: { ...reply(content), usage } };
  };
  const { agent } = await testAgent({ streamFn });
  const steps: string[] = [];
  agent.subscribe((event) => {
    if (event.type === "message_update") steps.push(event.assistantMessageEvent.type);
  });
  await agent.prompt("Hi");
  const step = ["start", "delta", "end"];
  expect(steps).toEqual([
    ...step.map((word) => `thinking_${word}`),
    "text_start",
    "text_delta",
    "text_delta",
    "text_end",
  ]);
  expect(agent.state.messages.at(-1)).toMatchObject({ content, usage: { input: 3, cacheRead: 5, totalTokens: 10 } });
});

test("calls of two replies may have one id, and each result goes to its own", async () => {
  const call = (word: string) => [callOf("look_up", { word }, "same")];
  const streamFn = scriptedStreamFn(call("one"), call("two"), [textOf("Done.")]);
  const { agent } = await testAgent({ initialState: { tools: [lookup] }, streamFn });
  await agent.prompt("Go");
  expect(texts(agent)).toEqual(["one: a word", "two: a word"]);
  const results = streamFn.asked[2]?.messages.filter(({ role }) => role === "toolResult");
  expect(results).toMatchObject([
    { toolCallId: "same", toolName: "look_up" },
    { toolCallId: "same", toolName: "look_up" },
  ]);
});

test.for<[string, StreamFn, string]>([
  ["throws", () => Promise.reject(new Error("no line")), "no line"],
  [
    "says error",
    async function* () {
      yield { type: "error", error: { stopReason: "error", errorMessage: "overloaded" } };
    },
    "overloaded",
  ],
  ["ends early", async function* () {}, "the reply ended with neither done nor error"],
])("a streamFn that %s fails the run once, with its reason", async ([, streamFn, errorMessage]) => {
  let asked = 0;
  const counted: StreamFn = (...args) => {
    asked++;
    return streamFn(...args);
  };
  const { agent } = await testAgent({ streamFn: counted });
  await agent.prompt("Go");
  expect(asked).toBe(1);
  expect(agent.state.errorMessage).toContain(errorMessage);
  expect(agent.state.messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "error" });
});

test("abort ends a reply that hangs and ignores its signal; one run at a time; waitForIdle waits for it", async () => {
  const streamFn: StreamFn = async function* () {
    agent.abort();
    await new Promise(() => undefined);
  };
  const { agent } = await testAgent({ streamFn });
  const run = agent.prompt("Go");
  expect(agent.state.isStreaming).toBe(true);
  await expect(agent.prompt("Me too")).rejects.toMatchObject({ code: "session-busy" });
  await agent.waitForIdle();
  expect(agent.state.isStreaming).toBe(false);
  await run;
  expect(agent.state.messages.at(-1)).toMatchObject({ stopReason: "aborted" });
  expect(agent.state.errorMessage).toBeDefined();
});

test("what stands in the way of a session rejects the prompt and is heard by nobody; the next prompt tries again", async () => {
  const model = { id: "m", provider: "nobody", baseUrl: "not an address" };
  const { agent } = await testAgent({ initialState: { model } });
  const heard: AgentEvent[] = [];
  agent.subscribe((event) => void heard.push(event));
  await expect(agent.prompt("Go")).rejects.toMatchObject({ name: "RookeryError" });
  await expect(agent.prompt("Go")).rejects.toMatchObject({ name: "RookeryError" });
  const other = await testAgent({ streamFn: scriptedStreamFn([textOf("x")]) });
  await expect(other.agent.prompt(" ")).rejects.toMatchObject({ code: "input-empty" });
  await other.agent.prompt("Go");
  expect(heard).toEqual([]);
  await other.agent.dispose();
  await other.agent.dispose();
});

test("after dispose, which comes before or after the first prompt, nothing runs any more", async () => {
  for (const prompts of [0, 1]) {
    const streamFn = scriptedStreamFn([textOf("x")]);
    const { agent } = await testAgent({ streamFn });
    for (let i = 0; i < prompts; i++) await agent.prompt("Go");
    await agent.dispose();
    await expect(agent.prompt("Go on")).rejects.toMatchObject({ code: "agent-closed" });
    expect(streamFn.asked).toHaveLength(prompts);
  }
});

test("a usage that cannot be one counts as nothing, and the record can be read", async () => {
  const usage = { input: Number.NaN, output: "many", cacheRead: -3, cacheWrite: 4 } as unknown as ToolUsage;
  const streamFn: StreamFn = async function* () {
    yield { type: "done", message: { ...reply([textOf("x")]), usage } };
  };
  const { agent, cwd } = await testAgent({ streamFn });
  await agent.prompt("Go");
  const [{ payload } = { payload: undefined }] = ofType(await recordBelow(cwd), "token_usage");
  expect(payload?.request).toEqual({ cache_read: 0, cache_write: 4, output: 0, total: 4 });
});

test("the seed's hook blocks dangerous bash commands and lets others pass (PI-082)", async () => {
  const commands = ["echo fine", "rm -rf build", "sudo true", "dd if=/dev/zero of=x"];
  const streamFn = scriptedStreamFn(commands.map((command, i) => callOf("bash", { command }, `c${i}`)));
  const { agent } = await testAgent({
    initialState: { tools: [createBashTool()] },
    streamFn,
    beforeToolCall: async ({ toolCall, args }) => {
      if (toolCall.name === "bash") {
        const dangerousPatterns = ["rm -rf", "sudo", "dd if="];
        for (const pattern of dangerousPatterns) {
          if (String(args.command).includes(pattern)) return { block: true, reason: "Dangerous command blocked" };
        }
      }
      return undefined;
    },
    afterToolCall: async ({ result }) => ({ output: result.output.toUpperCase() }),
  });
  await agent.prompt("Go");
  const blocked = "Tool call blocked: Dangerous command blocked";
  expect(texts(agent)).toEqual(["FINE\n", blocked, blocked, blocked]);
  expect(toolResults(agent).map(({ isError }) => isError)).toEqual([false, true, true, true]);
});

test("an approver that denies is asked for every call", async () => {
  const streamFn = scriptedStreamFn([callOf("look_up", { word: "pi" })]);
  const { agent } = await testAgent({ initialState: { tools: [lookup] }, streamFn, approve: async () => "deny" });
  await agent.prompt("Go");
  expect(texts(agent)[0]).toContain("Tool call denied by user.");
});

test("an error result carries its code in details to listeners and to the record (PI-084)", async () => {
  const streamFn = scriptedStreamFn([callOf("look_up", { word: "pi" })]);
  const { agent, cwd } = await testAgent({ initialState: { tools: [failing] }, streamFn });
  const ends: AgentEvent[] = [];
  agent.subscribe((event) => {
    if (event.type === "tool_execution_end") ends.push(event);
  });
  await agent.prompt("Go");
  const details = { path: "/etc/passwd", error: "EACCES" };
  expect(ends).toMatchObject([{ isError: true, result: { details } }]);
  expect(ofType(await recordBelow(cwd), "tool_call_output")).toMatchObject([
    { payload: { details, stop_reason: "failed" } },
  ]);
});

test("an error result reaches a streamFn and a model as content that is marked as an error; a thrown one does, too (PI-076, PI-077)", async () => {
  const throwing = defineTool({ ...lookup, name: "throw", execute: () => Promise.reject(new Error("no line")) });
  const tools = [failing, throwing, createReadTool()];
  const read = { path: import.meta.filename, endLine: 1 };
  const streamFn = scriptedStreamFn(
    [callOf("look_up", { word: "pi" }, "a"), callOf("throw", { word: "pi" }, "b"), callOf("read", read, "c")],
    [textOf("Sorry.")],
  );
  const { agent } = await testAgent({ initialState: { tools }, streamFn });
  await agent.prompt("Go");
  const denied = "Failed to read file: permission denied";
  expect(streamFn.asked[1]?.messages.slice(-3)).toMatchObject([
    { toolCallId: "a", isError: true, content: [{ type: "text", text: denied }] },
    { toolCallId: "b", isError: true, content: [{ type: "text", text: "no line" }] },
    { toolCallId: "c", isError: false },
  ]);
  expect(agent.state.messages.at(-1)).toMatchObject({ content: [textOf("Sorry.")], stopReason: "stop" });

  const calls = [
    { name: "look_up", args: { word: "pi" } },
    { name: "throw", args: { word: "pi" } },
    { name: "read", args: read },
  ];
  await using server = await startProviderServer({ replies: [{ calls }, "Sorry."] });
  const api = "anthropic-messages";
  const model = { id: "local", provider: "custom", api, baseUrl: server.baseUrl(api) };
  const other = await testAgent({ initialState: { model, tools } });
  await other.agent.prompt("Go");
  const results: { content: unknown; is_error?: boolean }[] = server.requests[1]?.body.messages.at(-1).content;
  expect(results.map(({ is_error }) => is_error)).toEqual([true, true, undefined]);
  expect(JSON.stringify(results[0]?.content)).toContain(denied);
  expect(JSON.stringify(results[1]?.content)).toContain("no line");
});

test("a tool that a result introduces is offered from then on (PI-012)", async () => {
  const hidden = { ...lookup, hidden: true };
  const opener = defineTool({
    name: "open",
    label: "Open",
    description: "Opens.",
    parameters: Type.Object({}),
    execute: async () => ({ content: [{ type: "text", text: "open" }], addedToolNames: ["look_up"] }),
  });
  const streamFn = scriptedStreamFn([callOf("open")], [callOf("look_up", { word: "pi" }, "call_2")], [textOf("Done.")]);
  const { agent } = await testAgent({ initialState: { tools: [opener, hidden] }, streamFn });
  await agent.prompt("Go");
  expect(streamFn.asked.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
    ["open"],
    ["open", "look_up"],
    ["open", "look_up"],
  ]);
  expect(texts(agent)).toEqual(["open", "pi: a word"]);
});

test("fetch's AbortError that a tool throws on ends the call as interrupted, and the request with it (PI-055, PI-056, PI-083)", async () => {
  let agent: Agent | undefined;
  let port: Promise<number> | undefined;
  const closed = new Promise<void>((resolve) => {
    const server = createServer((_request, response) => {
      response.on("close", resolve);
      agent?.abort();
    });
    onTestFinished(() => void server.close());
    server.listen(0, "127.0.0.1");
    port = once(server, "listening").then(() => (server.address() as AddressInfo).port);
  });
  const loading = defineTool({
    ...lookup,
    execute: async (_id, _params, signal) => {
      await fetch(`http://127.0.0.1:${await port}/`, { signal: signal ?? null });
      return { content: [] };
    },
  });
  const streamFn = scriptedStreamFn([callOf("look_up", { word: "pi" })]);
  ({ agent } = await testAgent({ initialState: { tools: [loading] }, streamFn }));
  await agent.prompt("Go");
  await closed;
  expect(texts(agent)).toEqual(["[interrupted]"]);
});

test("steering and follow-ups are delivered one at a time, heard as user messages; what came too early waits", async () => {
  const streamFn = scriptedStreamFn([callOf("look_up", { word: "a" })], [textOf("1")], [textOf("2")], [textOf("3")]);
  const { agent } = await testAgent({ initialState: { tools: [lookup] }, streamFn });
  agent.steer("before anything");
  const heard: string[] = [];
  agent.subscribe((event) => {
    if (event.type === "tool_execution_start") {
      agent.followUp("at last");
      agent.steer("first");
      agent.steer("second");
    }
    if (event.type === "message_end" && event.message.role === "user")
      heard.push(JSON.stringify(event.message.content));
  });
  await agent.prompt("begin");
  expect(heard).toHaveLength(5);
  for (const [at, text] of ["begin", "before anything", "first", "second", "at last"].entries()) {
    expect(heard[at]).toContain(text);
  }
  expect(streamFn.asked).toHaveLength(4);
});
