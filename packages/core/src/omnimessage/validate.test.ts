import fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryMessage } from "../../test/support/arbitrary-message.ts";
import { sampleMessages, samplePayloads } from "../../test/support/sample-payloads.ts";
import { assistantText, eventMessage, sessionMetaMessage, userData, userImage, userText, withOrigin } from "./build.ts";
import { complete, event, partial } from "./definition.ts";
import { isOmniMessage, messageProblems } from "./validate.ts";

const timestamp = "2026-01-02T03:04:05.678Z";
const text = { timestamp, type: "model_msg", payload: { type: "text", role: "user", text: "hi" } };

test("what the builders make has no problems", () => {
  const built = [
    userText("hi"),
    userText("go on", "harness"),
    assistantText("hello"),
    userImage("data:image/png;base64,AA=="),
    userData("AA==", "application/pdf"),
    eventMessage({ type: "request_begin" }),
    withOrigin(withOrigin(userText("hi"), "inner"), "outer"),
    sessionMetaMessage({
      session_id: "session-1",
      provider: "custom",
      model_id: "local",
      model_context_window: "unknown",
      system_prompt: "",
      agent_state: "/state",
      workspace: "/app",
    }),
  ];
  expect(built.flatMap(messageProblems)).toEqual([]);
});

test("a payload of every type in its envelope has no problems", () => {
  expect(Object.keys(samplePayloads).sort()).toEqual(Object.keys({ ...complete, ...partial, ...event }).sort());
  expect(sampleMessages.flatMap(messageProblems)).toEqual([]);
});

test("whatever follows the definition is a message", () => {
  fc.assert(
    fc.property(arbitraryMessage, (message) => {
      expect(messageProblems(message)).toEqual([]);
    }),
  );
});

test("unknown payload types and unknown fields are no problem", () => {
  expect(messageProblems({ ...text, payload: { type: "hologram", depth: 3 }, trace_id: 7 })).toEqual([]);
  expect(messageProblems({ ...text, type: "event_msg", payload: { type: "weather" } })).toEqual([]);
  expect(messageProblems({ ...text, payload: { type: "constructor" } })).toEqual([]);
  expect(messageProblems({ ...text, payload: { ...text.payload, mood: "good" } })).toEqual([]);
});

test.each([
  [undefined, "the message must be an object"],
  [[], "the message must be an object"],
  [{ ...text, timestamp: "now" }, 'timestamp must be ISO 8601 in UTC, got "now"'],
  [
    { ...text, timestamp: "2026-01-02T03:04:05+01:00" },
    'timestamp must be ISO 8601 in UTC, got "2026-01-02T03:04:05+01:00"',
  ],
  [{ ...text, timestamp: `${timestamp}\n` }, `timestamp must be ISO 8601 in UTC, got "${timestamp}\\n"`],
  [{ ...text, timestamp: 7 }, "timestamp must be a string, got 7"],
  [{ ...text, type: "msg" }, 'type must be one of "session_meta", "model_msg", "event_msg", got "msg"'],
  [{ ...text, payload: null }, "payload must be an object, got null"],
  [{ ...text, payload: {} }, "payload.type is missing"],
  [{ ...text, payload: { type: 3 } }, "payload.type must be a string"],
  [{ ...text, origin: [] }, "origin must hold session ids, or be absent for the main session"],
  [{ ...text, origin: ["a", ""] }, "origin must hold session ids, or be absent for the main session"],
  [{ ...text, origin: [1] }, "origin[0] must be a string, got 1"],
  [{ ...text, payload: { type: "text", role: "user" } }, "payload.text is missing"],
  [
    { ...text, payload: { type: "text", role: "model", text: "" } },
    'payload.role must be one of "user", "assistant", got "model"',
  ],
  [{ ...text, payload: { type: "abort" } }, 'payload.type "abort" belongs in an event_msg'],
  [{ ...text, type: "event_msg" }, 'payload.type "text" belongs in a model_msg'],
  [{ ...text, type: "session_meta" }, "payload.type must be absent in a session_meta"],
])("%j is not a message", (value, problem) => {
  expect(messageProblems(value)).toEqual([problem]);
  expect(isOmniMessage(value)).toBe(false);
});

test("every problem of a payload is named", () => {
  const payload = { type: "tool_call", role: "assistant", name: 1, arguments: {}, stop_reason: "odd" };
  expect(messageProblems({ ...text, payload })).toEqual([
    "payload.name must be a string, got 1",
    "payload.arguments must be a string, got {}",
    "payload.tool_call_id is missing",
    'payload.stop_reason must be one of "completed", "failed", "aborted", "timeout", "malformed", "auth", got "odd"',
  ]);
});
