import { expect, test } from "vitest";
import type { LLMOutcome } from "../../llm/contract.ts";
import { eventMessage, modelMessage, sessionMetaMessage, userText, withOrigin } from "../../omnimessage/build.ts";
import type { OmniMessage, StopReason } from "../../omnimessage/message.ts";
import { ReplayLLM } from "./replay-llm.ts";

const begin = eventMessage({ type: "request_begin" });
const end = (status: StopReason): OmniMessage =>
  eventMessage({ type: "request_end", status, ...(status === "completed" && { finish_reason: "stop" }) });
const says = (text: string): OmniMessage => modelMessage({ type: "text", role: "assistant", text });
const counts = { cache_read: 1, cache_write: 2, output: 3, total: 6 };
const usage = eventMessage({ type: "token_usage", request: counts, session: counts });
const request = (...said: readonly OmniMessage[]): OmniMessage[] => [begin, ...said, usage, end("completed")];
const meta = (fields: { session_id?: string; carried?: number } = {}): OmniMessage =>
  sessionMetaMessage({
    session_id: "session-1",
    provider: "custom",
    model_id: "m",
    model_context_window: "unknown",
    system_prompt: "",
    agent_state: "/state",
    workspace: "/app",
    ...fields,
  });

test("a reply is played as fragments and complete messages, with its ids, usage and finish reason (PC-105)", async () => {
  const call = {
    type: "tool_call",
    role: "assistant",
    name: "probe",
    arguments: '{"a":1}',
    tool_call_id: "c#2",
  } as const;
  const thinking = { type: "thinking", role: "assistant", thinking: "one  two", stop_reason: "completed" } as const;
  const records = request(modelMessage(thinking), modelMessage(call));
  const { messages, outcome } = await play(new ReplayLLM(records));
  expect(messages.map(({ payload }) => payload)).toEqual([
    { type: "partial_thinking", role: "assistant", event_type: "start", thinking: "" },
    { type: "partial_thinking", role: "assistant", event_type: "delta", thinking: "one  " },
    { type: "partial_thinking", role: "assistant", event_type: "delta", thinking: "two" },
    { type: "partial_thinking", role: "assistant", event_type: "stop", thinking: "", stop_reason: "completed" },
    thinking,
    { ...fragment("start"), name: "probe", arguments: "" },
    { ...fragment("delta"), arguments: '{"a":1}' },
    { ...fragment("stop"), arguments: "" },
    call,
    usage.payload,
  ]);
  expect(outcome).toEqual({ status: "completed", finishReason: "stop" });
});

test("replies of failed attempts, of a killed process, of children and of other sessions are not played", async () => {
  const records = [
    meta(),
    userText("go"),
    begin,
    says("failed"),
    end("malformed"),
    begin,
    says("killed"),
    begin,
    withOrigin(says("child"), "session-2"),
    says("kept"),
    usage,
    end("completed"),
    meta({ session_id: "session-2" }),
    ...request(says("other")),
    meta(),
    ...request(says("also kept")),
  ];
  expect(await texts(new ReplayLLM(records))).toEqual(["kept", "also kept"]);
});

test("every context is played; what a later one carried over is history, and a compaction is played only when asked for", async () => {
  const compaction = { reason: "context", mode: "summarize" } as const;
  const records = [
    meta(),
    ...request(says("first")),
    eventMessage({ type: "compaction_begin", ...compaction, context: 9, turns: 1 }),
    ...request(says("summary")),
    eventMessage({ type: "compaction_end", ...compaction, status: "completed" }),
    meta({ carried: 2 }),
    userText("summary"),
    says("carried"),
    ...request(says("second")),
  ];
  expect(await texts(new ReplayLLM(records))).toEqual(["first", "second"]);
  expect(await texts(new ReplayLLM(records, { compactions: true }))).toEqual(["first", "summary", "second"]);
});

test.each([
  [[], "the recording has 0 requests and no more"],
  [request(says("one")), "the recording has 1 request and no more"],
  [[...request(says("one")), ...request(says("two"))], "the recording has 2 requests and no more"],
])("past the end it fails for good and says how many requests there were", async (records, message) => {
  const llm = new ReplayLLM(records);
  await texts(llm);
  expect((await play(llm)).outcome).toEqual({ status: "failed", permanent: true, message });
});

test("an interrupted request is not counted as played, and no delay outlasts the interruption", async () => {
  const llm = new ReplayLLM(request(says("one two")), { deltaDelayMs: 100_000 });
  const controller = new AbortController();
  const stream = llm.streamGenerate({ newMessages: [], signal: controller.signal });
  await stream.next();
  const waiting = stream.next();
  controller.abort();
  expect(await waiting).toEqual({ done: true, value: { status: "aborted" } });
  expect(llm.remaining).toBe(1);
});

test("what is no message is passed over, and a reply without usage counts as zero tokens", async () => {
  const records = [null, 7, {}, { type: "event_msg" }, begin, says("ok"), end("completed")] as OmniMessage[];
  const { messages } = await play(new ReplayLLM(records));
  expect(messages.at(-1)?.payload).toMatchObject({ type: "token_usage", request: { total: 0 } });
});

function fragment(event_type: string): object {
  return { type: "partial_tool_call", role: "assistant", event_type, name: "", tool_call_id: "c#2" };
}

async function play(llm: ReplayLLM): Promise<{ messages: OmniMessage[]; outcome: LLMOutcome }> {
  const messages: OmniMessage[] = [];
  const stream = llm.streamGenerate({ newMessages: [] });
  for (;;) {
    const step = await stream.next();
    if (step.done) return { messages, outcome: step.value };
    messages.push(step.value);
  }
}

async function texts(llm: ReplayLLM): Promise<string[]> {
  const said: string[] = [];
  while (llm.remaining > 0) {
    const { messages } = await play(llm);
    for (const { payload } of messages) if (payload.type === "text") said.push(payload.text);
  }
  return said;
}
