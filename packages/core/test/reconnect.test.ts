import { expect, test } from "vitest";
import type { ApproveFn } from "../src/approval/contract.ts";
import type { LLMOutcome } from "../src/llm/contract.ts";
import { userText } from "../src/omnimessage/build.ts";
import { isType, ofType } from "../src/omnimessage/guards.ts";
import type { Session } from "../src/session/session.ts";
import { collectRun, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { impatient } from "./support/impatient-session.ts";
import { gatedTool } from "./support/test-tools.ts";

const allow: ApproveFn = async () => "allow";

const fails = (outcome: LLMOutcome) => ({ outcome });

test.each(["timeout", "malformed", "failed"] as const)(
  "a request that ends %s is made again with the same input, and its end carries the reason and the wait (PC-018, PC-021, PC-022, PC-023)",
  async (status) => {
    const llm = scriptedLLM(fails({ status, message: "what happened" }), "fine");
    await using temp = await tempAgent({ createLLM: () => llm });
    const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
    const { outcome, trace } = await collectRun(impatient(session), [userText("Hi")]);
    expect(outcome).toMatchObject({ status: "completed", text: "fine" });
    expect(llm.requests[1]?.newMessages).toEqual(llm.requests[0]?.newMessages);
    const [first, second] = ofType(trace, "request_end");
    expect(first?.payload).toMatchObject({ status, error_message: "what happened", attempt: 1 });
    expect(first?.payload.retry_in_ms).toBeGreaterThan(1_500);
    expect(second?.payload).toEqual({ type: "request_end", status: "completed", finish_reason: "stop" });
  },
);

test("text of a failed attempt is not sent again, and a trace without commit holds no usage", async () => {
  const llm = scriptedLLM({ text: "Half an ans", outcome: { status: "timeout" } }, "The whole answer.");
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome, trace } = await collectRun(impatient(session), [userText("Hi")]);
  expect(outcome.text).toBe("The whole answer.");
  expect(llm.requests[1]?.newMessages.map(({ payload }) => payload)).toMatchObject([{ text: "Hi" }]);
  expect(ofType(trace, "token_usage")).toHaveLength(1);
});

test("calls of a failed attempt that had run are listed in a [turn_retried] note and not run again", async () => {
  const work = gatedTool("work");
  const calls = scriptedLLM({
    calls: [
      { name: "work", args: { key: "a" } },
      { name: "work", args: { key: "b" } },
    ],
  });
  const llm = scriptedLLM(async function* (parameters) {
    for await (const message of calls.streamGenerate(parameters)) {
      if (message.type === "model_msg") yield message;
    }
    await work.onStart("a");
    return { status: "timeout", message: "reset" };
  }, "done");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [work.tool] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await collectRun(impatient(session), [userText("Go")], { approve: allow });
  expect(work.started).toEqual(["a"]);
  const [input, note] = llm.requests[1]?.newMessages ?? [];
  expect(input?.payload).toMatchObject({ text: "Go" });
  expect(note?.payload).toMatchObject({
    text: [
      "[turn_retried]",
      "An earlier attempt at this reply broke off. These calls of it have run; do not make them again.",
      "[tool_call]",
      'work {"key":"a"}',
      "[/tool_call]",
      "[tool_call_output]",
      "done a",
      "[/tool_call_output]",
      "[/turn_retried]",
    ].join("\n"),
  });
});

test("after five reconnects the run fails, names the last reason, and keeps the input for the next run", async () => {
  const down = fails({ status: "timeout", message: "no route" });
  const llm = scriptedLLM(down, down, down, down, down, down, "fine");
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome, trace } = await collectRun(impatient(session), [userText("Hi")]);
  expect(llm.requests).toHaveLength(6);
  expect(outcome).toMatchObject({ status: "failed", code: "retries-exhausted" });
  expect(outcome.message).toContain("no route");
  const ends = ofType(trace, "request_end").map(({ payload }) => payload);
  expect(ends.map((end) => end.attempt)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(ends.map((end) => end.retry_in_ms !== undefined)).toEqual([true, true, true, true, true, false]);
  await collectRun(session, [userText("Now?")]);
  expect(llm.requests[6]?.newMessages.map(({ payload }) => payload)).toMatchObject([{ text: "Hi" }, { text: "Now?" }]);
});

test.each([
  ["rejected credentials (PC-025)", { status: "auth", message: "bad key" }, { status: "auth", message: "bad key" }],
  [
    "a permanent failure",
    { status: "failed", permanent: true, message: "no such model" },
    { status: "failed", code: "provider-refused", message: "no such model" },
  ],
  ["an input that does not fit", { status: "failed", overflow: true }, { status: "failed", code: "context-overflow" }],
  [
    "a Retry-After of an hour",
    { status: "timeout", retryAfterMs: 3_600_000, message: "slow down" },
    { status: "failed", code: "retries-exhausted" },
  ],
] as const)("%s ends the turn at once", async (_, outcome, expected) => {
  const llm = scriptedLLM(fails(outcome));
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const run = await collectRun(session, [userText("Hi")]);
  expect(run.outcome).toMatchObject(expected);
  expect(llm.requests).toHaveLength(1);
  expect(run.messages.at(-1)?.payload.type).toBe("abort");
});

test("a Retry-After up to a minute is waited out as it is", async () => {
  const llm = scriptedLLM(fails({ status: "timeout", retryAfterMs: 45_000 }), "fine");
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { trace } = await collectRun(impatient(session), [userText("Hi")]);
  expect(ofType(trace, "request_end")[0]?.payload.retry_in_ms).toBe(45_000);
});

test.each([
  [new DOMException("", "TimeoutError"), { status: "timeout", message: "the time limit of the run was reached" }],
  [new DOMException("", "AbortError"), { status: "aborted", message: "the run was interrupted" }],
])("a run that %s ends in the wait for another attempt names the last failure", async (reason, { status, message }) => {
  const llm = scriptedLLM(fails({ status: "timeout", message: "no route", retryAfterMs: 50_000 }), "fine");
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const controller = new AbortController();
  const run: Session["run"] = async function* (messages, options) {
    const inner = session.run(messages, { ...options, signal: controller.signal });
    for (let step = await inner.next(); ; step = await inner.next()) {
      if (step.done) return step.value;
      yield step.value;
      if (isType(step.value, "request_end")) controller.abort(reason);
    }
  };
  const { outcome } = await collectRun({ run, traceFile: session.traceFile }, [userText("Hi")]);
  const why = "while a request was tried again; the last attempt: no route";
  expect(outcome).toMatchObject({ status, message: `${message} ${why}` });
  expect(llm.requests).toHaveLength(1);
});

test("a wait that is skipped costs no attempt, and without a wait there is nothing to skip", async () => {
  const llm = scriptedLLM(fails({ status: "timeout" }), "fine");
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  expect(session.skipReconnectWait()).toBe(false);
  const { outcome } = await collectRun(impatient(session), [userText("Hi")]);
  expect(outcome.status).toBe("completed");
});
