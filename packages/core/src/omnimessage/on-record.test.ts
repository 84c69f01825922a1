import { expect, test } from "vitest";
import { sampleMessages } from "../../test/support/sample-payloads.ts";
import { sessionMetaMessage, userText, withOrigin } from "./build.ts";
import {
  isCompleteModelMessage,
  isEventMessage,
  isModelMessage,
  isPartialPayload,
  isSessionMeta,
  ofType,
} from "./guards.ts";
import type { OmniMessage } from "./message.ts";
import { isOnRecord } from "./on-record.ts";

const meta = sessionMetaMessage({
  session_id: "session-1",
  provider: "custom",
  model_id: "local",
  model_context_window: 8000,
  system_prompt: "",
  agent_state: "/state",
  workspace: "/app",
});

test("a trace records everything but fragments and what is only watched", () => {
  const streamed = sampleMessages.filter((message) => !isOnRecord(message)).map(({ payload }) => payload.type);
  expect(streamed).toEqual([
    ...["partial_text", "partial_thinking", "partial_tool_call", "partial_tool_call_output"],
    ...["approval_request", "tool_progress"],
  ]);
  expect(isOnRecord(meta)).toBe(true);
});

test("a trace records nothing of a child session", () => {
  expect(isOnRecord(withOrigin(userText("hi"), "session-child"))).toBe(false);
  expect(isOnRecord(withOrigin(meta, "session-child"))).toBe(false);
});

test("a trace records payload types that are not known", () => {
  for (const type of ["hologram", "constructor"]) {
    expect(isOnRecord({ ...userText("hi"), payload: { type } } as unknown as OmniMessage)).toBe(true);
  }
});

test("every message is of exactly one kind", () => {
  for (const message of [meta, ...sampleMessages]) {
    const kinds = [
      isSessionMeta(message),
      isEventMessage(message),
      isCompleteModelMessage(message),
      isPartialPayload(message.payload),
    ];
    expect(kinds.filter(Boolean)).toEqual([true]);
    expect(isModelMessage(message)).toBe(kinds[2] || kinds[3]);
  }
});

test("messages of one payload type are picked in order", () => {
  const list = [userText("a"), meta, userText("b")];
  expect(ofType(list, "text").map(({ payload }) => payload.text)).toEqual(["a", "b"]);
});
