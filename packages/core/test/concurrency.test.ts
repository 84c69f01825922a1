import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ApproveFn } from "../src/approval/contract.ts";
import { userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import { collectRun, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { echoTool, Gate, gatedTool } from "./support/test-tools.ts";

const allow: ApproveFn = async () => "allow";
const call = (name: string, key: string) => ({ name, args: { key } });

test("thirty calls at a time are no leak that Node would warn of", async () => {
  const warnings: string[] = [];
  const listen = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", listen);
  const slow = gatedTool("slow");
  const llm = scriptedLLM({ calls: Array.from({ length: 30 }, (_, i) => call("slow", `key ${i}`)) }, "done");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [slow.tool] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await collectRun(session, [userText("Go")], { approve: allow });
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", listen);
  expect(slow.started).toHaveLength(30);
  expect(warnings).toEqual([]);
});

test("parallel calls of one reply run at the same time, and outputs stream as they finish (PI-071, PI-072)", async () => {
  const gates = { a: new Gate(), b: new Gate() };
  const slow = gatedTool("slow", { gates });
  const llm = scriptedLLM({ calls: [call("slow", "a"), call("slow", "b")] }, "done");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [slow.tool] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const run = collectRun(session, [userText("Go")], { approve: allow });
  await Promise.all([slow.onStart("a"), slow.onStart("b")]);
  gates.b.open();
  await new Promise((resolve) => setImmediate(resolve));
  gates.a.open();
  const { messages } = await run;
  expect(slow.mostAtOnce()).toBe(2);
  expect(ofType(messages, "tool_call_output").map(({ payload }) => payload.output)).toEqual(["done b", "done a"]);
  expect(llm.requests[1]?.newMessages.map((message) => (message.payload as { output: string }).output)).toEqual([
    "done a",
    "done b",
  ]);
});

test("sequential tools never run at the same time as one another (PI-070)", async () => {
  const solo = gatedTool("solo", { executionMode: "sequential" });
  const llm = scriptedLLM({ calls: [call("solo", "a"), call("solo", "b"), call("solo", "c")] }, "done");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [solo.tool] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await collectRun(session, [userText("Go")], { approve: allow });
  expect(solo.mostAtOnce()).toBe(1);
  expect(solo.started).toEqual(["a", "b", "c"]);
});

test("a sequential call waits for every earlier call, and later ones wait for it", async () => {
  const gates = { a: new Gate() };
  const slow = gatedTool("slow", { gates });
  const order: string[] = [];
  const solo = { ...echoTool("solo"), executionMode: "sequential" as const };
  const llm = scriptedLLM(
    { calls: [call("slow", "a"), { name: "solo", args: { text: "s" } }, { name: "echo", args: { text: "e" } }] },
    "done",
  );
  await using temp = await tempAgent({ createLLM: () => llm, tools: [slow.tool, solo, echoTool()] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const run = collectRun(session, [userText("Go")], { approve: allow });
  await slow.onStart("a");
  gates.a.open();
  const { messages } = await run;
  for (const { payload } of ofType(messages, "tool_call_output")) order.push(payload.output);
  expect(order).toEqual(["done a", "echo: s", "echo: e"]);
});

test("toolExecution sequential makes every call wait for the one before (PI-073)", async () => {
  const slow = gatedTool("slow");
  const llm = scriptedLLM({ calls: [call("slow", "a"), call("slow", "b")] }, "done");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [slow.tool], toolExecution: "sequential" });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await collectRun(session, [userText("Go")], { approve: allow });
  expect(slow.mostAtOnce()).toBe(1);
});

test("a call starts while the model still streams, once a later segment has begun", async () => {
  const started = gatedTool("quick");
  const llm = scriptedLLM(async function* (parameters) {
    yield* scriptedLLM({ calls: [{ ...call("quick", "a"), id: "c1" }] }).streamGenerate(parameters);
    const later = scriptedLLM({ text: "and then", hang: false });
    const stream = later.streamGenerate(parameters);
    for (let step = await stream.next(); ; step = await stream.next()) {
      if (step.done) return step.value;
      yield step.value;
      if (step.value.payload.type === "partial_text") await started.onStart("a");
    }
  }, "done");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [started.tool] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(outcome.status).toBe("completed");
});

test("eight edits to one file in one reply all land", async () => {
  const letters = [..."abcdefgh"];
  const llm = scriptedLLM(
    {
      calls: letters.map((letter) => ({
        name: "edit_file",
        args: { file_path: "f.txt", old_string: `${letter}=0`, new_string: `${letter}=1` },
      })),
    },
    "done",
  );
  await using temp = await tempAgent({ createLLM: () => llm });
  const file = join(temp.workspaceDir, "f.txt");
  await writeFile(file, letters.map((letter) => `${letter}=0\n`).join(""));
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { messages } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(ofType(messages, "tool_call_output").map(({ payload }) => payload.stop_reason)).toEqual(
    letters.map(() => "completed"),
  );
  expect(await readFile(file, "utf8")).toBe(letters.map((letter) => `${letter}=1\n`).join(""));
});

test("two whole-file writes to one file in one reply do not overlap: the second is shown what the first left", async () => {
  const write = (content: string) => ({ name: "write_file", args: { file_path: "f.txt", content } });
  const llm = scriptedLLM({ calls: [write("one\n"), write("two\n")] }, "done");
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { messages } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(ofType(messages, "tool_call_output").map(({ payload }) => payload.output.split(" ")[0])).toEqual([
    "Created",
    "Overwrote",
  ]);
  expect(await readFile(join(temp.workspaceDir, "f.txt"), "utf8")).toBe("two\n");
});

test("when every output of a reply says terminate, no further request is made (PI-013)", async () => {
  const submit = {
    ...echoTool("submit"),
    execute: async () => ({ content: [{ type: "text" as const, text: "taken" }], details: {}, terminate: true }),
  };
  const llm = scriptedLLM({ text: "Here.", calls: [{ name: "submit", args: { text: "x" } }] });
  await using temp = await tempAgent({ createLLM: () => llm, tools: [submit] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(outcome).toMatchObject({ status: "completed", turns: 1, text: "Here." });
});

test("one output that does not say terminate keeps the task going", async () => {
  const submit = {
    ...echoTool("submit"),
    execute: async () => ({ content: [{ type: "text" as const, text: "taken" }], details: {}, terminate: true }),
  };
  const llm = scriptedLLM(
    {
      calls: [
        { name: "submit", args: { text: "x" } },
        { name: "echo", args: { text: "y" } },
      ],
    },
    "done",
  );
  await using temp = await tempAgent({ createLLM: () => llm, tools: [submit, echoTool()] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(outcome.turns).toBe(2);
});

test("a hidden tool is unknown until a committed output introduces it, and then offered", async () => {
  const opener = {
    ...echoTool("open_box"),
    execute: async () => ({
      content: [{ type: "text" as const, text: "opened" }],
      details: {},
      addedToolNames: ["inner"],
    }),
  };
  const inner = { ...echoTool("inner"), hidden: true };
  const llm = scriptedLLM(
    { calls: [{ name: "inner", args: { text: "too soon" } }] },
    { calls: [{ name: "open_box", args: { text: "" } }] },
    { calls: [{ name: "inner", args: { text: "now" } }] },
    "done",
  );
  await using temp = await tempAgent({ createLLM: () => llm, tools: [opener, inner] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { messages } = await collectRun(session, [userText("Go")], { approve: allow });
  const results = ofType(messages, "tool_call_output").map(({ payload }) => payload.output);
  expect(results[0]).toMatch(/^no tool named "inner"/);
  expect(results.slice(1)).toEqual(["opened", "echo: now"]);
  const offers = ofType(messages, "tool_list_ready").map(({ payload }) => payload.tools.map((tool) => tool.name));
  expect(offers).toHaveLength(2);
  expect(offers[0]).not.toContain("inner");
  expect(offers[1]).toContain("inner");
  expect(llm.requests.map((request) => request.tools?.some((tool) => tool.name === "inner"))).toEqual([
    false,
    undefined,
    true,
    undefined,
  ]);
});
