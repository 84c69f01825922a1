import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ApproveFn } from "../src/approval/contract.ts";
import { userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import { collectRun, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { echoTool } from "./support/test-tools.ts";

const allow: ApproveFn = async () => "allow";

function types(messages: readonly { payload: { type?: string | undefined } }[]): (string | undefined)[] {
  return messages.map((message) => message.payload.type).filter((type) => !type?.startsWith("partial_"));
}

test("a reply without calls ends the task, and the outcome carries its text, turns and usage", async () => {
  const llm = scriptedLLM({ thinking: "hm", text: "Hello." });
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome, messages } = await collectRun(session, [userText("Hi")]);
  expect(outcome).toEqual({
    status: "completed",
    text: "Hello.",
    turns: 1,
    usage: { cache_read: 0, cache_write: 10, output: 5, total: 15 },
    denied: [],
  });
  expect(types(messages)).toEqual([
    "tool_list_ready",
    "request_begin",
    "thinking",
    "text",
    "token_usage",
    "request_end",
  ]);
  expect(ofType(messages, "request_end")[0]?.payload).toMatchObject({ status: "completed", finish_reason: "stop" });
});

test("whoever calls session.run with messages, a callback and a signal is the human: nothing is registered (PC-078, PC-079)", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM("ok") });
  const session = await temp.agent.createSession({
    workspaceDir: temp.workspaceDir,
    provider: "acme",
    modelId: "m-1",
  });
  const { outcome, trace } = await collectRun(session, [userText("Hi")]);
  expect(outcome.status).toBe("completed");
  expect(trace[0]?.payload).toMatchObject({
    format: 1,
    provider: "acme",
    model_id: "m-1",
    session_id: session.sessionId,
  });
});

test("the model sees its tool's output in the next request and only what is new (PC-008, PT-182)", async () => {
  const llm = scriptedLLM({ text: "Looking.", calls: [{ name: "echo", args: { text: "a" } }] }, "It says a.");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [echoTool()] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(outcome).toMatchObject({ status: "completed", text: "It says a.", turns: 2 });
  expect(llm.requests.map((request) => request.newMessages.map((message) => message.payload.type))).toEqual([
    ["text"],
    ["tool_call_output"],
  ]);
  expect(llm.requests[1]?.newMessages[0]?.payload).toMatchObject({ output: "echo: a", stop_reason: "completed" });
});

test("the trace begins with session_meta, then the input, the tool list and the request, and never holds the input in the stream", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM("ok") });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { messages, trace } = await collectRun(session, [userText("Hi")]);
  expect(types(trace)).toEqual([
    undefined,
    "text",
    "tool_list_ready",
    "request_begin",
    "text",
    "token_usage",
    "request_end",
  ]);
  expect(ofType(messages, "text").filter((message) => message.payload.role === "user")).toEqual([]);
});

test("a second run goes on in the same history, and its tool list is not repeated", async () => {
  const llm = scriptedLLM("one", "two");
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await collectRun(session, [userText("first")]);
  const { messages } = await collectRun(session, [userText("second")]);
  expect(ofType(messages, "tool_list_ready")).toEqual([]);
  expect(llm.requests[1]?.newMessages.map((message) => message.payload)).toMatchObject([{ text: "second" }]);
});

test("thinkingLevel holds for every request of its run and for no later one (PC-083)", async () => {
  const llm = scriptedLLM({ calls: [{ name: "echo", args: { text: "a" } }] }, "done", "again");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [echoTool()] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await collectRun(session, [userText("Go")], { approve: allow, thinkingLevel: "high" });
  await collectRun(session, [userText("More")]);
  expect(llm.requests.map((request) => request.thinkingLevel)).toEqual(["high", "high", undefined]);
});

test("maxTurns ends the task with an abort event, and the outputs go to the model in the next run", async () => {
  const llm = scriptedLLM({ calls: [{ name: "echo", args: { text: "a" } }] }, "seen");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [echoTool()] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir, maxTurns: 1 });
  const first = await collectRun(session, [userText("Go")], { approve: allow });
  expect(first.outcome).toMatchObject({ status: "failed", code: "max-turns", turns: 1 });
  expect(first.messages.at(-1)?.payload).toMatchObject({ type: "abort", code: "max-turns" });
  const second = await collectRun(session, [userText("Go on")], { approve: allow });
  expect(second.outcome.status).toBe("completed");
  expect(llm.requests[1]?.newMessages.map((message) => message.payload)).toMatchObject([
    { type: "tool_call_output", output: "echo: a" },
    { type: "text", text: "Go on" },
  ]);
});

test("the default prompt names date, platform and workspace and holds the workspace's AGENTS.md", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM("ok") });
  await writeFile(join(temp.workspaceDir, "AGENTS.md"), "Always use tabs.\n");
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  expect(session.meta.system_prompt).toContain(`Working directory: ${temp.workspaceDir}`);
  expect(session.meta.system_prompt).toContain(`Platform: ${process.platform}`);
  expect(session.meta.system_prompt).toMatch(/Date: \d{4}-\d\d-\d\d\n/);
  expect(session.meta.system_prompt).toContain("Always use tabs.");
});

test("a session without a workspace gets a fresh directory of its own", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM() });
  const one = await temp.agent.createSession();
  const two = await temp.agent.createSession();
  expect(one.workspaceDir).toMatch(/workspaces\/tmp-[0-9a-f]{8}$/);
  expect(one.workspaceDir).not.toBe(two.workspaceDir);
});

test("a final reply that reached the output limit fails the run with its text kept", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM({ text: "and then", finishReason: "length" }) });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome } = await collectRun(session, [userText("Tell me")]);
  expect(outcome).toMatchObject({ status: "failed", code: "output-length", text: "and then" });
});
