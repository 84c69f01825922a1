import { mkdir, rmdir } from "node:fs/promises";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { ApproveFn } from "../src/approval/contract.ts";
import type { Hooks } from "../src/engine/hooks.ts";
import type { EnvironmentInterface } from "../src/environment/contract.ts";
import { eventMessage, modelMessage, userText } from "../src/omnimessage/build.ts";
import { isType, ofType } from "../src/omnimessage/guards.ts";
import type { OmniMessage } from "../src/omnimessage/message.ts";
import { runToEnd } from "../src/session/run-to-end.ts";
import { collectRun, readTraceMessages, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { echoTool } from "./support/test-tools.ts";

const allow: ApproveFn = async () => "allow";
const never = <T>(): Promise<T> => new Promise(() => undefined);
const callEcho = { calls: [{ name: "echo", args: { text: "a" } }] };

function environment(change: Partial<EnvironmentInterface>): EnvironmentInterface {
  return {
    listTools: async () => [{ name: "echo", description: "Says it back.", parameters: { type: "object" } }],
    toolPermission: () => "r",
    async *executeTool({ toolCall }) {
      const { tool_call_id } = toolCall.payload;
      yield modelMessage({
        type: "tool_call_output",
        role: "user",
        output: "ok",
        tool_call_id,
        stop_reason: "completed",
      });
    },
    ...change,
  };
}

test.each<[string, Partial<EnvironmentInterface>]>([
  [
    "whose toolPermission throws",
    {
      toolPermission: () => {
        throw new Error("no table");
      },
    },
  ],
  ["whose assessCall answers nothing", { assessCall: async () => undefined as never }],
  [
    "whose assessCall throws",
    {
      assessCall: async () => {
        throw new Error("no idea");
      },
    },
  ],
  ["whose executeTool is no generator", { executeTool: () => undefined as never }],
])("an environment %s gives the call an error output, and the run goes on", async (_, change) => {
  await using temp = await tempAgent({
    createLLM: () => scriptedLLM(callEcho, "done"),
    createEnvironment: () => environment(change),
  });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome, messages } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(ofType(messages, "tool_call_output")[0]?.payload.output).toMatch(/^\[tool error\] /);
  expect(outcome.status).toBe("completed");
});

const circular: Record<string, unknown> = {};
circular.self = circular;
test.each<[string, Hooks]>([
  ["answers with nothing it may answer with", { beforeToolCall: async () => ({}) as never }],
  ["replaces arguments by what is no JSON", { beforeToolCall: async () => ({ args: circular }) }],
])("a beforeToolCall hook that %s blocks the call", async (_, hooks) => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM(callEcho, "done"), tools: [echoTool()], hooks });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome, messages } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(ofType(messages, "tool_call_output")[0]?.payload.output).toMatch(/^Tool call blocked: the hook failed: /);
  expect(outcome.status).toBe("completed");
});

test("an afterToolCall hook replaces the six fields it may, made JSON, and nothing else", async () => {
  const afterToolCall = async () => ({ details: { n: 1n }, tool_call_id: "other", role: "assistant" }) as never;
  await using temp = await tempAgent({
    createLLM: () => scriptedLLM(callEcho, "done"),
    tools: [echoTool()],
    hooks: { afterToolCall },
  });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { trace } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(ofType(trace, "tool_call_output")[0]?.payload).toMatchObject({ tool_call_id: "call_1", role: "user" });
});

test("a listener of warnings that throws harms nothing", async () => {
  await using temp = await tempAgent({
    createLLM: () => scriptedLLM(callEcho, "done"),
    tools: [echoTool()],
    onWarning: () => {
      throw new Error("not listening");
    },
  });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome } = await collectRun(session, [userText("Go")], {
    approve: async () => {
      throw new Error("x");
    },
  });
  expect(outcome.status).toBe("completed");
});

test("events that are not a tool's to say do not pass", async () => {
  await using temp = await tempAgent({
    createLLM: () => scriptedLLM(callEcho, "done"),
    createEnvironment: () =>
      environment({
        async *executeTool(request) {
          yield eventMessage({ type: "request_end", status: "completed" });
          yield eventMessage({ type: "abort", reason: "mine" });
          yield eventMessage({ type: "tool_progress", tool_call_id: "call_1", text: "half" });
          yield* environment({}).executeTool(request);
        },
      }),
  });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { messages } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(ofType(messages, "abort")).toEqual([]);
  expect(ofType(messages, "tool_progress")).toHaveLength(1);
});

test.each<[string, Parameters<typeof tempAgent>[0]]>([
  ["an afterToolCall hook", { tools: [echoTool()], hooks: { afterToolCall: never } }],
  ["a beforeToolCall hook", { tools: [echoTool()], hooks: { beforeToolCall: never } }],
  ["a list of tools", { createEnvironment: () => environment({ listTools: never }) }],
  ["an assessment", { createEnvironment: () => environment({ assessCall: never }) }],
  ["an approval summary", { tools: [{ ...echoTool(), approvalSummary: never<string> }] }],
])("an abort ends the run although %s never comes", async (_, options) => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM(callEcho, "done"), ...options });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 50);
  const { outcome } = await collectRun(session, [userText("Go")], { approve: allow, signal: controller.signal });
  expect(outcome.status).toBe("aborted");
});

/** A reply of many small pieces, more than a reader is given credit for. */
const flood = scriptedLLM(async function* () {
  yield modelMessage({ type: "partial_text", role: "assistant", event_type: "start", text: "" });
  for (let i = 0; i < 2000; i++) {
    yield modelMessage({ type: "partial_text", role: "assistant", event_type: "delta", text: "x" });
  }
  return { status: "completed" };
}).streamGenerate;

test("dispose from inside the loop ends the session although the reader has stopped reading", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM(flood) });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  for await (const message of session.run([userText("Go")])) {
    if (isType(message, "partial_text")) {
      await session.dispose();
      break;
    }
  }
  await temp.agent.dispose();
});

test("a stream made of a run and destroyed interrupts it, though the model says nothing", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM({ hang: true }, "again") });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const stream = Readable.from(session.run([userText("Go")]));
  stream.resume();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const closed = new Promise((resolve) => stream.once("close", resolve));
  stream.destroy();
  await closed;
  const { outcome } = await runToEnd(session, [userText("Again")]);
  expect(outcome.text).toBe("again");
});

test("a call that a completed reply left open is closed, run and answered", async () => {
  const head = { type: "partial_tool_call", role: "assistant", tool_call_id: "c1" } as const;
  const llm = scriptedLLM(async function* () {
    yield modelMessage({ ...head, event_type: "start", name: "echo", arguments: "" });
    yield modelMessage({ ...head, event_type: "delta", name: "", arguments: '{"text":"a"}' });
    yield modelMessage({ ...head, event_type: "stop", name: "", arguments: "" });
    return { status: "completed" };
  }, "done");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [echoTool()] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await collectRun(session, [userText("Go")], { approve: allow });
  expect(llm.requests[1]?.newMessages.map(({ payload }) => payload)).toMatchObject([{ output: "echo: a" }]);
});

test("calls that a broken stream cut off are neither asked about nor answered", async () => {
  let asked = 0;
  const cut = (id: string) => ({ name: "echo", args: '{"te', id, stopReason: "malformed" as const });
  const llm = scriptedLLM({ calls: [cut("a"), cut("b")], outcome: { status: "malformed", permanent: true } });
  await using temp = await tempAgent({ createLLM: () => llm, tools: [echoTool()] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { trace } = await collectRun(session, [userText("Go")], {
    approve: async () => {
      asked++;
      return "allow";
    },
  });
  expect(asked).toBe(0);
  expect(ofType(trace, "tool_call_output")).toEqual([]);
});

test("a question that a tool asks through its context waits for the one before", async () => {
  let open = 0;
  let most = 0;
  const asking = {
    ...echoTool("asking"),
    name: "asking",
    definition: { name: "asking", description: "Asks." },
    // biome-ignore lint/correctness/useYield: it asks and says nothing.
    async *execute(_args: unknown, context: { approve?: ApproveFn }): AsyncGenerator<OmniMessage> {
      const toolCall = modelMessage({
        type: "tool_call",
        role: "assistant",
        name: "x",
        arguments: "{}",
        tool_call_id: "x",
      });
      await context.approve?.(toolCall, { summary: "", risk: "process", permission: "rw", workspace: "/" });
    },
  };
  const calls = ["a", "b", "c"].map((id) => ({ name: "asking", args: {}, id }));
  await using temp = await tempAgent({ createLLM: () => scriptedLLM({ calls }, "done"), tools: [asking as never] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await collectRun(session, [userText("Go")], {
    approve: async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 5));
      open--;
      return "allow";
    },
  });
  expect(most).toBe(1);
});

test("disposing of a runner of tools interrupts what it runs, and the agent forgets it", async () => {
  await using temp = await tempAgent({ tools: [{ ...echoTool("slow"), execute: never as never }] });
  const runner = await temp.agent.createToolRunner({ workspaceDir: temp.workspaceDir });
  const call = runner.call("slow", '{"text":"x"}', { approve: allow });
  await call.next();
  const rest = (async () => {
    for await (const _ of call);
  })();
  await runner.dispose();
  await rest;
}, 15_000);

test("the agent's tool sources are connected once, serve every session, and end with the agent", async () => {
  const counts = { connected: 0, disposed: 0 };
  const source = {
    id: "shared",
    connect: async () => {
      counts.connected++;
      return { server: "shared", transport: "test", status: "completed", duration_ms: 0 } as const;
    },
    tools: async () => [],
    dispose: () => {
      counts.disposed++;
    },
  };
  await using temp = await tempAgent({ createLLM: () => scriptedLLM("ok"), toolSources: [source] });
  for (let i = 0; i < 2; i++) {
    const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
    await collectRun(session, [userText("Go")]);
    await session.dispose();
  }
  expect(counts).toEqual({ connected: 1, disposed: 0 });
  await temp.agent.dispose();
  expect(counts).toEqual({ connected: 1, disposed: 1 });
});

test("a session whose first record could not be written begins its trace with session_meta once it can", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM("one", "two") });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await mkdir(session.traceFile);
  await runToEnd(session, [userText("Lost")]);
  await rmdir(session.traceFile);
  await runToEnd(session, [userText("Kept")]);
  const trace = await readTraceMessages(session.traceFile);
  expect(trace.map(({ type }) => type).slice(0, 2)).toEqual(["session_meta", "model_msg"]);
});
