import { expect, expectTypeOf, test } from "vitest";
import type { ApproveFn } from "../src/approval/contract.ts";
import type { EnvironmentInterface } from "../src/environment/contract.ts";
import type { LLMInterface } from "../src/llm/contract.ts";
import { assistantText, modelMessage, userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import type { OmniMessage } from "../src/omnimessage/message.ts";
import { collectRun, scriptedLLM, tempAgent } from "../src/testing/index.ts";

const allow: ApproveFn = async () => "allow";

/** An environment with one tool, which does what the test gives it. */
function oneTool(executeTool: EnvironmentInterface["executeTool"]): EnvironmentInterface {
  return {
    listTools: async () => [{ name: "odd", description: "Does odd things.", parameters: { type: "object" } }],
    toolPermission: (name) => (name === "odd" ? "r" : undefined),
    executeTool,
  };
}

const callOdd = { calls: [{ name: "odd", args: {} }] };
const output = (text: string, id = "call_1"): OmniMessage =>
  modelMessage({ type: "tool_call_output", role: "user", output: text, tool_call_id: id, stop_reason: "completed" });

test("a custom environment executes a session's tools, its whole outputs being streamed as segments (PC-107)", async () => {
  await using temp = await tempAgent({
    createLLM: () => scriptedLLM(callOdd, "done"),
    createEnvironment: () =>
      oneTool(async function* () {
        yield output("mine");
      }),
  });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { messages, outcome } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(ofType(messages, "tool_call_output")[0]?.payload.output).toBe("mine");
  expect(outcome.status).toBe("completed");
});

test.each([
  [
    "throws",
    // biome-ignore lint/correctness/useYield: a tool that fails before it says anything.
    async function* (): AsyncGenerator<OmniMessage> {
      throw new Error("broken");
    },
    "[tool error] broken",
  ],
  [
    "throws in the middle",
    async function* (): AsyncGenerator<OmniMessage> {
      yield modelMessage({
        type: "partial_tool_call_output",
        role: "user",
        event_type: "delta",
        output: "half",
        tool_call_id: "call_1",
      });
      throw new Error("broken");
    },
    "half\n[tool error] broken",
  ],
  ["says nothing", async function* (): AsyncGenerator<OmniMessage> {}, "[tool error] the tool ended without an output"],
  [
    "answers twice, and other calls too",
    async function* (): AsyncGenerator<OmniMessage> {
      yield output("other", "call_9");
      yield output("first");
      yield output("second");
    },
    "first",
  ],
])("an environment that %s still gives the call one legal output (LOOP-10)", async (_, executeTool, expected) => {
  await using temp = await tempAgent({
    createLLM: () => scriptedLLM(callOdd, "done"),
    createEnvironment: () => oneTool(executeTool),
  });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { messages, outcome } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(ofType(messages, "tool_call_output").map(({ payload }) => payload.output)).toEqual([expected]);
  expect(outcome.status).toBe("completed");
});

test("a model that yields whole messages and no usage still makes a legal stream (PC-105)", async () => {
  const llm: LLMInterface = {
    async *streamGenerate() {
      yield assistantText("All at once.");
      return { status: "completed" };
    },
  };
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome, messages } = await collectRun(session, [userText("Hi")]);
  expect(outcome).toMatchObject({ status: "completed", text: "All at once." });
  expect(ofType(messages, "partial_text").map(({ payload }) => payload.event_type)).toEqual(["start", "delta", "stop"]);
});

test("a model that throws with a segment open has it closed and is asked again", async () => {
  const llm = scriptedLLM(async function* () {
    yield modelMessage({ type: "partial_text", role: "assistant", event_type: "start", text: "" });
    yield modelMessage({ type: "partial_text", role: "assistant", event_type: "delta", text: "Half" });
    throw new Error("boom");
  }, "Whole.");
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const skipping = setInterval(() => session.skipReconnectWait(), 5);
  const { outcome, trace } = await collectRun(session, [userText("Hi")]);
  clearInterval(skipping);
  expect(outcome).toMatchObject({ status: "completed", text: "Whole." });
  expect(ofType(trace, "request_end")[0]?.payload).toMatchObject({ status: "failed", error_message: "boom" });
  expect(ofType(trace, "text").map(({ payload }) => [payload.text, payload.stop_reason])).toEqual([
    ["Hi", undefined],
    ["Half", "failed"],
    ["Whole.", undefined],
  ]);
});

test("a model that cannot be made fails the run with the reason", async () => {
  await using temp = await tempAgent({
    createLLM: () => {
      throw new Error("no such gateway");
    },
  });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome } = await collectRun(session, [userText("Hi")]);
  expect(outcome).toMatchObject({ status: "failed", message: "the model could not be set up: no such gateway" });
});

test("an environment whose list of tools fails goes on with the tools it had", async () => {
  const warnings: string[] = [];
  let lists = 0;
  await using temp = await tempAgent({
    createLLM: () => scriptedLLM(callOdd, "done"),
    createEnvironment: () => {
      const environment = oneTool(async function* () {
        yield output("ok");
      });
      return {
        ...environment,
        listTools: async () => {
          if (++lists > 2) throw new Error("gone");
          return await environment.listTools();
        },
      };
    },
    onWarning: ({ code }) => warnings.push(code),
  });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(outcome.status).toBe("completed");
  expect(warnings).toEqual(["tools-unlisted"]);
});

test("the interfaces have the seed's shape (PC-007, PC-052, PC-053, PC-055, PC-080) [type]", () => {
  expectTypeOf<LLMInterface["streamGenerate"]>().returns.toExtend<AsyncGenerator<OmniMessage, { status: string }>>();
  expectTypeOf<EnvironmentInterface["listTools"]>().returns.resolves.toBeArray();
  expectTypeOf<EnvironmentInterface["executeTool"]>().returns.toEqualTypeOf<AsyncGenerator<OmniMessage>>();
  expectTypeOf<EnvironmentInterface["dispose"]>().toExtend<(() => void | Promise<void>) | undefined>();
});
