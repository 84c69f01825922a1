import fc from "fast-check";
import { expect, test } from "vitest";
import {
  abort,
  begin,
  call,
  decision,
  end,
  output,
  sampleStream,
  text,
  usage,
} from "../../test/support/sample-stream.ts";
import {
  assistantText,
  eventMessage,
  modelMessage,
  sessionMetaMessage,
  userText,
  withOrigin,
} from "../omnimessage/build.ts";
import { isPartialPayload, isType } from "../omnimessage/guards.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { isOnRecord } from "../omnimessage/on-record.ts";
import { ruleViolations } from "./check-rules.ts";

const sampleTrace = sampleStream.filter(isOnRecord);
const denied = modelMessage({
  type: "tool_call_output",
  role: "user",
  output: "Tool call denied by user.",
  tool_call_id: "c1",
  stop_reason: "aborted",
});
const compactionBegin = eventMessage({
  type: "compaction_begin",
  reason: "context",
  mode: "summarize",
  context: 9000,
  turns: 3,
});
const compactionEnd = eventMessage({
  type: "compaction_end",
  reason: "context",
  mode: "summarize",
  status: "completed",
});

test.each<[string, readonly OmniMessage[]]>([
  ["a whole task", sampleStream],
  [
    "outputs while the model still speaks, and between token_usage and request_end",
    [
      begin,
      ...call("c1"),
      decision("c1"),
      ...output("c1").slice(0, 2),
      ...text(["more"]),
      usage,
      ...output("c1").slice(2),
      end(),
    ],
  ],
  [
    "two calls whose fragments are mixed",
    [
      begin,
      ...zip(call("a").slice(0, 3), call("b").slice(0, 3)),
      ...call("a").slice(3),
      ...call("b").slice(3),
      usage,
      end(),
      ...[decision("a"), decision("b"), ...output("a"), ...output("b")],
    ],
  ],
  [
    "a failed request that is tried again",
    [begin, ...text(["Ha"], "timeout"), end("timeout"), begin, ...text(["Hi"]), usage, end()],
  ],
  ["a denied call, whose output is not streamed", [begin, ...call("c1"), decision("c1", "deny"), denied, usage, end()]],
  ["a call of a request that was not committed", [begin, ...call("c1", "aborted"), end("aborted"), abort]],
  [
    "a child session inside a call",
    [
      begin,
      ...call("c1"),
      decision("c1"),
      usage,
      end(),
      ...[begin, ...text(["child"]), usage, end()].map((message) => withOrigin(message, "session-child")),
      ...output("c1"),
    ],
  ],
  [
    "a child session that goes on after its run was aborted",
    [begin, end("aborted"), abort, begin, ...text(["again"]), usage, end()].map((message) =>
      withOrigin(message, "child"),
    ),
  ],
  ["usage that a tool reports outside a request", [...sampleStream, toolUsage()]],
  [
    "a compaction of which text and usage are streamed",
    [...sampleStream, compactionBegin, ...text(["sum"]), usage, compactionEnd],
  ],
  ["a goal that ends after an abort", [begin, end("aborted"), abort, goalFinished()]],
  ["unknown payload types", [...sampleStream, unknown("model_msg"), unknown("event_msg")]],
])("%s keeps the rules", (_, messages) => {
  expect(ruleViolations(messages)).toEqual([]);
});

test.each<[string, readonly OmniMessage[], string[]]>([
  [
    "joined deltas that differ",
    replaced(sampleStream, "text", { text: "I look!" }, 0),
    ['rule 1: message 6: text: the joined deltas differ from the complete message from character 6 on: "" and "!"'],
  ],
  [
    "a segment that is never stopped",
    [begin, ...text(["a"]).slice(0, 2)],
    ["rule 4: message 1: the last request_begin has no request_end", "rule 1: message 2: text is never stopped"],
  ],
  [
    "a request that ends while a segment is open",
    [begin, ...text(["a"]).slice(0, 2), usage, end()],
    [
      "rule 1: message 2: text is never stopped",
      "rule 1: message 4: token_usage comes while text is open",
      "rule 1: message 5: request_end comes while text is open",
    ],
  ],
  [
    "a stop without its complete message",
    [begin, ...text(["a"]).slice(0, 3), ...text(["b"]), usage, end()],
    ["rule 1: message 5: partial_text comes before the complete message of text, which stopped at message 4"],
  ],
  [
    "a stop at the very end",
    text(["a"]).slice(0, 3),
    ["rule 1: message 3: text is stopped and has no complete message"],
  ],
  [
    "a delta without a start",
    [begin, ...text(["a"]).slice(1, 2), usage, end()],
    ["rule 1: message 2: a delta of text without a start"],
  ],
  [
    "a second start",
    [begin, ...text(["a"]).slice(0, 1), ...text(["a"]), usage, end()],
    ["rule 1: message 3: text starts again before its stop"],
  ],
  [
    "text inside of thinking",
    [begin, thinkingStart(), ...text(["a"])],
    [
      "rule 4: message 1: the last request_begin has no request_end",
      "rule 1: message 2: thinking is never stopped",
      "rule 1: message 3: text starts while thinking is open",
    ],
  ],
  [
    "a complete message before its stop",
    [begin, ...moved(text(["a"]), 3, 2), usage, end()],
    [
      "rule 1: message 4: text is complete before its stop",
      "rule 1: message 6: token_usage comes before the complete message of text, which stopped at message 5",
    ],
  ],
  [
    "a reply that was not streamed",
    [begin, assistantText("whole"), usage, end()],
    ["rule 1: message 2: text came whole, without start and stop"],
  ],
  [
    "an output that was not streamed",
    [begin, ...call("c1"), decision("c1"), usage, end(), ...output("c1").slice(3)],
    ["rule 1: message 10: tool_call_output c1 came whole, without start and stop"],
  ],
  [
    "images that are not in the deltas",
    [begin, ...call("c1"), decision("c1"), usage, end(), ...output("c1", "", { images: ["data:,"] })],
    ["rule 1: message 13: tool_call_output c1: the images of the deltas are not those of the complete message"],
  ],
  [
    "a call of another name than its fragments",
    [begin, ...replaced(call("c1"), "tool_call", { name: "bash" }), usage, end("failed")],
    [
      'rule 1: message 6: tool_call c1: it starts as "read_file" and is complete as "bash"',
      "rule 5: message 8: token_usage in a request that ended failed",
    ],
  ],
  [
    "another stop reason than that of the stop",
    [begin, ...replaced(text(["a"]), "text", { stop_reason: "failed" }), usage, end()],
    ["rule 1: message 5: text: it stops as completed and is complete as failed"],
  ],
  [
    "an abort while a segment is open",
    [begin, ...text(["a"]).slice(0, 1), end("aborted"), abort],
    ["rule 1: message 3: request_end comes while text is open", "rule 1: message 4: abort comes while text is open"],
  ],
  [
    "a message after abort",
    [begin, end("aborted"), abort, assistantText("late")],
    ["rule 1: message 4: text comes after abort, the last message of a run"],
  ],
  [
    "an output before its decision",
    [begin, ...call("c1"), ...output("c1"), decision("c1"), usage, end()],
    [
      "rule 2: message 7: output of c1 comes before its approval_decision",
      "rule 2: message 11: the approval_decision for c1 comes after its output",
    ],
  ],
  [
    "a decision before its call",
    [begin, decision("c1"), ...call("c1", "aborted"), end("aborted"), abort],
    ["rule 2: message 2: the approval_decision for c1 comes before its tool_call"],
  ],
  [
    "two decisions for one call",
    [begin, ...call("c1"), decision("c1"), decision("c1"), usage, end(), ...output("c1")],
    ["rule 2: message 8: a second approval_decision for c1"],
  ],
  [
    "a committed call without an output",
    [begin, ...call("c1"), decision("c1"), usage, end()],
    ["rule 3: message 6: the committed call c1 has no output"],
  ],
  [
    "a request that does not wait for all outputs",
    [begin, ...call("c1"), decision("c1"), usage, end(), begin, usage, end()],
    ["rule 3: message 10: the next request begins while the committed call c1 has no output"],
  ],
  [
    "two outputs for one call",
    [...sampleStream, ...output("c1")],
    [`rule 3: message ${sampleStream.length + 4}: a second output of c1`],
  ],
  ["an output without a call", output("c9"), ["rule 3: message 4: the output of c9 has no tool_call"]],
  [
    "an id of two calls",
    [begin, ...call("c1", "timeout"), end("timeout"), begin, ...call("c1", "timeout"), end("timeout")],
    ["rule 3: message 13: the id c1 is used by two calls"],
  ],
  [
    "a call without an id",
    [begin, ...call("", "timeout"), end("timeout")],
    ["rule 3: message 6: a tool_call without an id"],
  ],
  [
    "a completed request without usage",
    [begin, ...text(["a"]), end()],
    ["rule 4: message 6: a completed request has no token_usage before its request_end"],
  ],
  [
    "a model that goes on after its usage",
    [begin, usage, assistantText(""), end()],
    ["rule 4: message 3: text comes between token_usage and request_end"],
  ],
  ["a second usage", [begin, usage, usage, end()], ["rule 4: message 3: a second token_usage in one request"]],
  ["usage outside a request", [usage], ["rule 4: message 1: token_usage outside a request"]],
  [
    "a request inside another",
    [begin, begin, usage, end()],
    ["rule 4: message 2: request_begin comes before the request_end of the request that began at message 1"],
  ],
  [
    "an abort inside a request",
    [begin, abort],
    ["rule 4: message 2: abort comes before the request_end of the request that began at message 1"],
  ],
  ["an end without a beginning", [end("failed")], ["rule 4: message 1: request_end without a request_begin"]],
  [
    "usage of a request that failed",
    [begin, usage, end("failed")],
    ["rule 5: message 3: token_usage in a request that ended failed"],
  ],
  [
    "what is only recorded, in a stream",
    [meta(), eventMessage({ type: "subagent", session_id: "s" })],
    ["rule 7: message 1: session_meta is streamed", "rule 7: message 2: subagent is streamed"],
  ],
  [
    "a compaction's request, in a stream",
    [compactionBegin, begin, ...text(["sum"]), usage, end(), compactionEnd],
    [
      "rule 7: message 2: request_begin is streamed from inside a compaction",
      "rule 7: message 8: request_end is streamed from inside a compaction",
    ],
  ],
  [
    "synthetic context",
    [userText("[turn_aborted]the run was interrupted[/turn_aborted]")],
    ["rule 8: message 1: a note for the model only is on record"],
  ],
])("%s is reported", (_, messages, violations) => {
  expect(ruleViolations(messages)).toEqual(violations);
});

test("malformed messages are all that is reported where there are any", () => {
  const malformed = { ...begin, timestamp: "now" };
  expect(ruleViolations([malformed, end("failed")])).toEqual([
    'format: message 1: timestamp must be ISO 8601 in UTC, got "now"',
  ]);
});

test("a trace holds no fragments, nothing of a child session and nothing that is only watched", () => {
  expect(ruleViolations(sampleTrace, { trace: true })).toEqual([]);
  const progress = eventMessage({ type: "tool_progress", tool_call_id: "c1" });
  expect(ruleViolations([...text(["a"]).slice(0, 1), withOrigin(begin, "child"), progress], { trace: true })).toEqual([
    "rule 7: message 1: partial_text is in a trace",
    "rule 7: message 2: request_begin with origin is in a trace",
    "rule 7: message 3: tool_progress is in a trace",
  ]);
});

test("a trace may hold several runs, and what lies inside a compaction", () => {
  const aborted = [begin, end("aborted"), abort];
  const compaction = [compactionBegin, begin, assistantText("sum"), usage, end(), compactionEnd];
  expect(
    ruleViolations([meta(), userText("go"), ...aborted, userText("go on"), ...compaction], { trace: true }),
  ).toEqual([]);
});

test("records that carry a history on need no decision and may repeat ids", () => {
  const history = sampleTrace.filter((message) => message.type === "model_msg");
  const next = [meta(history.length), ...history, begin, assistantText("on"), usage, end()];
  expect(ruleViolations([meta(), ...sampleTrace, ...next], { trace: true })).toEqual([]);
  const withoutOutput = history.filter((message) => !isType(message, "tool_call_output"));
  expect(ruleViolations([meta(withoutOutput.length), ...withoutOutput], { trace: true })).toEqual([
    "rule 3: message 3: the committed call c1 has no output",
    "rule 3: message 4: the committed call c2 has no output",
  ]);
});

test("a note for the model is on record where it is carried into another context, and nowhere else", () => {
  const note = userText("[turn_aborted]\nhalf a reply\n[/turn_aborted]");
  expect(ruleViolations([meta(1), note, begin, assistantText("on"), usage, end()], { trace: true })).toEqual([]);
  expect(ruleViolations([meta(), note], { trace: true })).toEqual([
    "rule 8: message 2: a note for the model only is on record",
  ]);
});

test("a stream broken off anywhere lacks nothing when it is open", () => {
  for (let length = 0; length <= sampleStream.length; length += 1) {
    expect(ruleViolations(sampleStream.slice(0, length), { open: true })).toEqual([]);
  }
});

test("the trace of a killed run that was gone on with lacks nothing when it is open", () => {
  for (let length = 0; length <= sampleTrace.length; length += 1) {
    const resumed = [...sampleTrace.slice(0, length), begin, assistantText("on"), usage, end()];
    expect(ruleViolations(resumed, { trace: true, open: true })).toEqual([]);
  }
});

test("a stream stands in its trace in the same order", () => {
  const earlier = [meta(), userText("hi"), begin, assistantText("hello"), usage, end()];
  expect(ruleViolations(sampleStream, { against: [...earlier, ...sampleTrace] })).toEqual([]);
  const swapped = moved(sampleTrace, 2, 1);
  expect(ruleViolations(sampleStream, { against: swapped })).toEqual([
    "rule 7: message 11: tool_call is at another place in the trace",
  ]);
  expect(ruleViolations(sampleStream, { against: sampleTrace.filter((message) => !isType(message, "text")) })).toEqual([
    "rule 7: message 6: text is not in the trace",
    `rule 7: message ${sampleStream.length - 2}: text is not in the trace`,
  ]);
});

test("leaving out any one message is noticed", () => {
  for (const left of sampleStream) {
    expect(ruleViolations(sampleStream.filter((message) => message !== left))).not.toEqual([]);
  }
});

test("any list of messages is checked without a throw", () => {
  const messages = fc.array(
    fc.constantFrom<OmniMessage>(...sampleStream, abort, denied, meta(2), compactionBegin, toolUsage()),
  );
  fc.assert(
    fc.property(messages, fc.boolean(), fc.boolean(), (list, trace, open) => {
      const violations = ruleViolations(list, { trace, open, against: list });
      for (const violation of violations) expect(violation).toMatch(/^rule [1-8]: message \d+: /);
      if (trace) expect(violations.length === 0 && list.some(({ payload }) => isPartialPayload(payload))).toBe(false);
    }),
  );
});

function meta(carried?: number): OmniMessage {
  return sessionMetaMessage({
    session_id: "session-1",
    provider: "custom",
    model_id: "custom",
    model_context_window: "unknown",
    system_prompt: "",
    agent_state: "/state",
    workspace: "/app",
    ...(carried !== undefined && { carried }),
  });
}

function toolUsage(): OmniMessage {
  const counts = { cache_read: 0, cache_write: 1, output: 1, total: 2 };
  return eventMessage({ type: "token_usage", request: counts, session: counts, source: "tool" });
}

function goalFinished(): OmniMessage {
  return eventMessage({ type: "goal_finished", outcome: "aborted", rounds: 1, tokens_used: 10 });
}

function thinkingStart(): OmniMessage {
  return modelMessage({ type: "partial_thinking", role: "assistant", event_type: "start", thinking: "" });
}

function unknown(type: "model_msg" | "event_msg"): OmniMessage {
  return { timestamp: begin.timestamp, type, payload: { type: "hologram" } } as unknown as OmniMessage;
}

/** A copy in which fields of the nth message of a type are others. */
function replaced(messages: readonly OmniMessage[], type: string, fields: object, nth = 0): OmniMessage[] {
  const chosen = messages.filter((message) => message.payload.type === type)[nth];
  return messages.map((message) =>
    message === chosen ? ({ ...message, payload: { ...message.payload, ...fields } } as OmniMessage) : message,
  );
}

/** A copy in which the message at `from` stands at `to`. */
function moved(messages: readonly OmniMessage[], from: number, to: number): OmniMessage[] {
  const copy = [...messages];
  copy.splice(to, 0, ...copy.splice(from, 1));
  return copy;
}

function zip(a: readonly OmniMessage[], b: readonly OmniMessage[]): OmniMessage[] {
  return a.flatMap((message, i) => [message, ...b.slice(i, i + 1)]);
}
