import { expect, test } from "vitest";
import type { ApproveFn } from "../src/approval/contract.ts";
import type { RunOptions } from "../src/engine/run-outcome.ts";
import { modelMessage, userImage, userText } from "../src/omnimessage/build.ts";
import { isType, ofType } from "../src/omnimessage/guards.ts";
import type { OmniMessage } from "../src/omnimessage/message.ts";
import type { Session } from "../src/session/session.ts";
import { collectRun, readTraceMessages, ruleViolations, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { echoTool, Gate, gatedTool } from "./support/test-tools.ts";

const allow: ApproveFn = async () => "allow";

/** Runs a task and interrupts it when the first message arrives that the test waits for. */
async function interruptAt(
  session: Session,
  when: (message: OmniMessage) => boolean,
  options: RunOptions = { approve: allow },
  reason?: unknown,
): ReturnType<typeof collectRun> {
  const controller = new AbortController();
  const run: Session["run"] = async function* (messages, opts) {
    const inner = session.run(messages, opts);
    for (let step = await inner.next(); ; step = await inner.next()) {
      if (step.done) return step.value;
      if (when(step.value)) controller.abort(reason);
      yield step.value;
    }
  };
  const watched = { run, traceFile: session.traceFile };
  return await collectRun(watched, [userText("Do it")], { ...options, signal: controller.signal });
}

function sent(messages: readonly OmniMessage[] | undefined): unknown[] {
  return (messages ?? []).map(({ payload }) => {
    if (payload.type === "text") return payload.text;
    if (payload.type === "tool_call_output") return [payload.tool_call_id, payload.output, payload.stop_reason];
    return payload.type;
  });
}

test("an abort while text streams closes the segment, ends with abort, and flattens the turn into the next input (PC-024, PC-081)", async () => {
  const llm = scriptedLLM({ text: "I will now", hang: true }, "fine");
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome, messages } = await interruptAt(session, (message) => isType(message, "text"));
  expect(outcome).toMatchObject({ status: "aborted", turns: 0 });
  expect(messages.at(-1)?.payload.type).toBe("abort");
  expect(ofType(messages, "token_usage")).toEqual([]);
  await collectRun(session, [userText("Try again")], { approve: allow });
  expect(sent(llm.requests[1]?.newMessages)).toEqual([
    [
      "[turn_aborted]",
      "The turn below was interrupted before its reply was complete.",
      "[user_input]",
      "Do it",
      "[/user_input]",
      "[text]",
      "I will now",
      "[/text]",
      "[/turn_aborted]",
    ].join("\n"),
    "Try again",
  ]);
});

test("an abort before the reply has brought anything keeps the input as it was given, images included", async () => {
  const llm = scriptedLLM({ hang: true }, "fine");
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const controller = new AbortController();
  const image = userImage("data:image/png;base64,iVBORw0KGgo=");
  const run = collectRun(session, [userText("See"), image], { signal: controller.signal });
  setImmediate(() => controller.abort());
  expect((await run).outcome.status).toBe("aborted");
  await collectRun(session, [userText("Well?")]);
  expect(sent(llm.requests.at(-1)?.newMessages)).toEqual(["See", "image_url", "Well?"]);
});

test("an abort while a tool runs answers every committed call, and the outputs go to the model as they are", async () => {
  const slow = gatedTool("slow", { executionMode: "sequential", gates: { a: new Gate() } });
  const llm = scriptedLLM(
    {
      calls: [
        { name: "slow", args: { key: "a" } },
        { name: "slow", args: { key: "b" } },
      ],
    },
    "fine",
  );
  await using temp = await tempAgent({ createLLM: () => llm, tools: [slow.tool] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const controller = new AbortController();
  const running = collectRun(session, [userText("Go")], { approve: allow, signal: controller.signal });
  await slow.onStart("a");
  controller.abort();
  const { outcome, messages } = await running;
  expect(outcome.status).toBe("aborted");
  expect(slow.started).toEqual(["a"]);
  expect(sent(ofType(messages, "tool_call_output"))[1]).toEqual([
    "call_2",
    "[interrupted: tool aborted by user]",
    "aborted",
  ]);
  await collectRun(session, [userText("Then?")], { approve: allow });
  const input = sent(llm.requests[1]?.newMessages);
  expect(input).toHaveLength(3);
  expect(input[0]).toMatchObject(["call_1", expect.any(String), "aborted"]);
  expect(input[1]).toEqual(["call_2", "[interrupted: tool aborted by user]", "aborted"]);
  expect(input[2]).toBe("Then?");
});

test("an abort while a person is asked counts as deny, and the run does not wait for the person", async () => {
  const llm = scriptedLLM({ calls: [{ name: "echo", args: { text: "a" } }] });
  await using temp = await tempAgent({ createLLM: () => llm, tools: [echoTool()] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome, trace } = await interruptAt(session, (message) => isType(message, "approval_request"), {
    approve: () => new Promise(() => undefined),
  });
  expect(outcome.status).toBe("aborted");
  expect(ofType(trace, "approval_decision")[0]?.payload).toMatchObject({ decision: "deny" });
});

test("an abort in the arguments of a call leaves a cut call that is not run and not answered", async () => {
  const llm = scriptedLLM(async function* ({ signal }) {
    yield* partialCall();
    await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
    return { status: "aborted" };
  }, "fine");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [echoTool()] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { messages, trace } = await interruptAt(
    session,
    (message) => isType(message, "partial_tool_call") && message.payload.event_type === "delta",
  );
  expect(ofType(messages, "tool_call")[0]?.payload).toMatchObject({ arguments: '{"te', stop_reason: "aborted" });
  expect(ofType(trace, "tool_call_output")).toEqual([]);
});

async function* partialCall(): AsyncGenerator<OmniMessage> {
  const head = { type: "partial_tool_call", role: "assistant", tool_call_id: "c1" } as const;
  yield modelMessage({ ...head, event_type: "start", name: "echo", arguments: "" });
  yield modelMessage({ ...head, event_type: "delta", name: "", arguments: '{"te' });
}

test("an abort during the wait between attempts ends the run at once", async () => {
  const llm = scriptedLLM({ outcome: { status: "timeout", message: "gone" } });
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome } = await interruptAt(session, (message) => isType(message, "request_end"));
  expect(outcome.status).toBe("aborted");
  expect(llm.requests).toHaveLength(1);
});

test("repeated aborts flatten into one block, each input once", async () => {
  const llm = scriptedLLM({ text: "one", hang: true }, { text: "two", hang: true }, "fine");
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await interruptAt(session, (message) => isType(message, "text"));
  await interruptAt(session, (message) => isType(message, "text") && message.payload.text === "two");
  await collectRun(session, [userText("Now")]);
  const [block, now] = sent(llm.requests[2]?.newMessages) as string[];
  expect(now).toBe("Now");
  expect(block?.match(/\[turn_aborted\]/g)).toHaveLength(1);
  expect(block?.match(/Do it/g)).toHaveLength(2);
  expect(block).toMatch(/\[text\]\none\n[\s\S]*\[text\]\ntwo\n/);
});

test("a signal with a TimeoutError ends the run as timed out", async () => {
  const llm = scriptedLLM({ text: "slow", hang: true });
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const timeout = new DOMException("late", "TimeoutError");
  const { outcome } = await interruptAt(session, (message) => isType(message, "text"), {}, timeout);
  expect(outcome.status).toBe("timeout");
});

test("a signal that has already fired makes no request and keeps the input for the next run", async () => {
  const llm = scriptedLLM("fine");
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome } = await collectRun(session, [userText("Early")], { signal: AbortSignal.abort() });
  expect(outcome.status).toBe("aborted");
  await collectRun(session, [userText("Late")]);
  expect(sent(llm.requests[0]?.newMessages)).toEqual(["Early", "Late"]);
});

test("leaving the loop early interrupts the run, ends its tools and leaves a legal trace", async () => {
  const slow = gatedTool("slow", { gates: { a: new Gate() } });
  const llm = scriptedLLM({ calls: [{ name: "slow", args: { key: "a" } }] });
  await using temp = await tempAgent({ createLLM: () => llm, tools: [slow.tool] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  for await (const message of session.run([userText("Go")], { approve: allow })) {
    if (isType(message, "approval_decision")) break;
  }
  const trace = await readTraceMessages(session.traceFile);
  expect(ruleViolations(trace, { trace: true })).toEqual([]);
  expect(trace.at(-1)?.payload.type).toBe("abort");
  expect(ofType(trace, "tool_call_output")).toHaveLength(1);
});

test("a model that ignores its signal is left behind", async () => {
  const llm = scriptedLLM(async function* (parameters) {
    yield* scriptedLLM({ text: "never mind" }).streamGenerate(parameters);
    return await new Promise(() => undefined);
  });
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome } = await interruptAt(session, (message) => isType(message, "text"));
  expect(outcome.status).toBe("aborted");
});
