import {
  assistantText,
  eventMessage,
  modelMessage,
  type OmniMessage,
  RookeryError,
  type SessionMetaPayload,
  type TraceEntry,
  userText,
} from "@rookery/core";
import { sessionMetaMessage } from "@rookery/core/omnimessage";
import { expect, test } from "vitest";
import { fakeAgent } from "../../test/support/fake-agent.ts";
import { fakeIo } from "../../test/support/fake-io.ts";
import { rookery } from "../rookery.ts";

const meta = (changes: Partial<SessionMetaPayload> = {}): OmniMessage =>
  sessionMetaMessage({
    session_id: "session-1",
    provider: "custom",
    model_id: "local",
    model_context_window: "unknown",
    system_prompt: "be good",
    agent_state: "/a",
    workspace: "/w",
    ...changes,
  });
const messages: OmniMessage[] = [
  meta(),
  userText("look\naround"),
  eventMessage({
    type: "tool_list_ready",
    tools: [{ name: "probe", description: "", parameters: { properties: { description: {} } } }],
  }),
  modelMessage({
    type: "tool_call",
    role: "assistant",
    name: "probe",
    arguments: '{"path":"a","description":"see \\u001b[2J"}',
    tool_call_id: "c",
  }),
  modelMessage({ type: "tool_call_output", role: "user", output: "no", tool_call_id: "c", stop_reason: "failed" }),
  assistantText("Nothing there."),
  meta({ carried: 1 }),
  userText("look\naround"),
  assistantText("Still nothing."),
  eventMessage({ type: "abort", reason: "interrupted" }),
];
const record: TraceEntry[] = messages.map((message) => ({ message }));

test("show prints a transcript, with what was carried over once and control characters visible", async () => {
  const io = fakeIo();
  const agent = fakeAgent({ record });
  expect(await rookery(["sessions", "show", "session-1"], io, agent)).toBe(0);
  expect(io.out()).toBe(
    [
      "session-1 · custom/local · /w",
      "\n> look\n> around\n",
      "● probe  see ␛[2J",
      "  failed\n  no",
      "Nothing there.",
      "session-1 · custom/local · /w",
      "Still nothing.",
      "[interrupted]",
      "",
    ].join("\n"),
  );
  expect(agent.log).toContainEqual(["readSession", "session-1"]);
});

test("show as json is an array, as stream-json the lines of the record", async () => {
  const json = fakeIo();
  expect(await rookery(["sessions", "show", "s", "--output", "json"], json, fakeAgent({ record }))).toBe(0);
  expect(JSON.parse(json.out())).toEqual(messages);
  const stream = fakeIo();
  expect(await rookery(["sessions", "show", "s", "--output", "stream-json"], stream, fakeAgent({ record }))).toBe(0);
  expect(stream.out()).toBe(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  const empty = fakeIo();
  await rookery(["sessions", "show", "s", "--output", "json"], empty, fakeAgent({}));
  expect(JSON.parse(empty.out())).toEqual([]);
});

test("damage of a record is a warning, and the rest is shown", async () => {
  const io = fakeIo();
  const damaged: TraceEntry[] = [...record.slice(0, 1), { problem: "001.jsonl: one line is not JSON", torn: false }];
  expect(await rookery(["sessions", "show", "s"], io, fakeAgent({ record: damaged }))).toBe(0);
  expect(io.out()).toBe("session-1 · custom/local · /w\n");
  expect(io.err()).toBe("rookery: warning: 001.jsonl: one line is not JSON\n");
});

test("list shows one line for each session", async () => {
  const summary = { startedAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-01T00:00:00Z", bytes: 1, contexts: 1 };
  const sessions = [
    { ...summary, id: "session-2", provider: "custom", modelId: "local", firstText: "fix \x1b[2J it", empty: false },
    { ...summary, id: "session-1", empty: true },
  ];
  const io = fakeIo();
  expect(await rookery(["sessions", "list"], io, fakeAgent({ sessions }))).toBe(0);
  expect(io.out()).toBe("session-2  custom/local  fix ␛[2J it\nsession-1  ?/?  (nothing was said)\n");
  const json = fakeIo();
  await rookery(["sessions", "list", "--output", "json"], json, fakeAgent({ sessions }));
  expect(JSON.parse(json.out())).toEqual(sessions);
});

test("remove takes several and tells of each", async () => {
  const io = fakeIo();
  const agent = fakeAgent({});
  expect(await rookery(["sessions", "remove", "a", "b"], io, agent)).toBe(0);
  expect(io.out()).toBe("removed a\nremoved b\n");
  expect(agent.log.filter(([name]) => name === "removeSession")).toEqual([
    ["removeSession", "a"],
    ["removeSession", "b"],
  ]);
  const json = fakeIo();
  await rookery(["sessions", "remove", "a", "--output", "json"], json, fakeAgent({}));
  expect(JSON.parse(json.out())).toEqual({ removed: ["a"] });
});

test("a session that does not exist is a usage error with the nearest ones", async () => {
  const io = fakeIo();
  const failure = new RookeryError("session-not-found", 'no session is named "x"', { hint: "the nearest are a, b" });
  expect(await rookery(["sessions", "remove", "x"], io, fakeAgent({ failure }))).toBe(2);
  expect(io.err()).toBe('rookery: no session is named "x"; the nearest are a, b\n');
});
