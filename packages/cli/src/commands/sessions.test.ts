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
      "● probe  see ␛[2J  a",
      "  failed\n  no",
      "Nothing there.",
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
    {
      ...summary,
      id: "session-2",
      workspace: "/w",
      provider: "custom",
      modelId: "local",
      firstText: "fix \x1b[2J it",
      empty: false,
    },
    { ...summary, id: "session-1", empty: true },
  ];
  const unread = { ...summary, id: "session-0", contexts: 0, empty: false };
  const other = fakeIo();
  await rookery(["sessions", "list"], other, fakeAgent({ sessions: [unread] }));
  expect(other.out()).toBe("session-0  ?  ?/?  (cannot be read)\n");
  const io = fakeIo();
  expect(await rookery(["sessions", "list"], io, fakeAgent({ sessions }))).toBe(0);
  expect(io.out()).toBe("session-2  /w  custom/local  fix ␛[2J it\nsession-1  ?  ?/?  (nothing was said)\n");
  const json = fakeIo();
  await rookery(["sessions", "list", "--output", "json"], json, fakeAgent({ sessions }));
  const dates = { started_at: summary.startedAt, updated_at: summary.updatedAt };
  const counts = { bytes: 1, contexts: 1 };
  expect(JSON.parse(json.out())).toEqual([
    {
      session_id: "session-2",
      ...dates,
      ...counts,
      workspace: "/w",
      provider: "custom",
      model_id: "local",
      first_text: "fix \x1b[2J it",
      empty: false,
    },
    { session_id: "session-1", ...dates, ...counts, empty: true },
  ]);
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

test("remove goes on behind one that fails, with the exit code of the first failure", async () => {
  const notFound = new RookeryError("session-not-found", 'no session is named "b"', { hint: "the nearest are a, c" });
  const locked = new RookeryError("session-locked", "session d is open elsewhere");
  const agent = fakeAgent({ failures: { b: notFound, d: locked } });
  const io = fakeIo();
  expect(await rookery(["sessions", "remove", "a", "b", "c", "d"], io, agent)).toBe(2);
  expect(io.out()).toBe("removed a\nremoved c\n");
  expect(io.err()).toBe(
    'rookery: no session is named "b"; the nearest are a, c\nrookery: session d is open elsewhere\n',
  );
  const json = fakeIo();
  expect(await rookery(["sessions", "remove", "d", "b", "a", "--output", "json"], json, agent)).toBe(1);
  expect(JSON.parse(json.out())).toEqual({
    removed: ["a"],
    failed: [
      { session_id: "d", code: "session-locked", message: locked.message },
      { session_id: "b", code: "session-not-found", message: notFound.message, hint: notFound.hint },
    ],
  });
  expect(json.err()).toBe("");
});

test("list says on standard error that there is nothing", async () => {
  const io = fakeIo();
  expect(await rookery(["sessions", "list"], io, fakeAgent({}))).toBe(0);
  expect([io.out(), io.err()]).toEqual(["", "rookery: no sessions are recorded\n"]);
});

test("show repeats the heading of a call before an output that does not follow it", async () => {
  const call = (id: string, path: string): OmniMessage =>
    modelMessage({
      type: "tool_call",
      role: "assistant",
      name: "probe",
      arguments: JSON.stringify({ path }),
      tool_call_id: id,
    });
  const output = (id: string, text: string): OmniMessage =>
    modelMessage({ type: "tool_call_output", role: "user", output: text, tool_call_id: id });
  const parallel = [
    call("1", "a"),
    call("2", "b"),
    output("2", "B"),
    output("1", "A"),
    call("3", "c"),
    output("3", "C"),
  ];
  const io = fakeIo();
  await rookery(["sessions", "show", "s"], io, fakeAgent({ record: parallel.map((message) => ({ message })) }));
  expect(io.out()).toBe("● probe  a\n● probe  b\n  B\n● probe  a\n  A\n● probe  c\n  C\n");
});

test("a session that does not exist is a usage error with the nearest ones", async () => {
  const io = fakeIo();
  const failure = new RookeryError("session-not-found", 'no session is named "x"', { hint: "the nearest are a, b" });
  expect(await rookery(["sessions", "remove", "x"], io, fakeAgent({ failure }))).toBe(2);
  expect(io.err()).toBe('rookery: no session is named "x"; the nearest are a, b\n');
});
