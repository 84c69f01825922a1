import type { LanguageModelV3StreamPart } from "@ai-sdk/provider";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkSegments } from "../../test/support/collect-reply.ts";
import { isCompleteModelMessage } from "../omnimessage/guards.ts";
import type { CompletePayload, OmniMessage, StopReason } from "../omnimessage/message.ts";
import { marked } from "./providers/provider.ts";
import { createToolCallIdAllocator } from "./tool-call-ids.ts";
import { StreamTranslator } from "./translate-stream.ts";

type Part = LanguageModelV3StreamPart;
type Ending = { cut: boolean } | { interrupted: StopReason };
type Fields = Record<string, string>;

test("a text is start, deltas, stop, and the complete message next (PC-006, PC-012, PC-040)", () => {
  const { messages } = translate([start("text"), delta("text", "Hel"), delta("text", "lo"), end("text")]);
  expect(messages.map(({ payload }) => payload)).toEqual([
    { type: "partial_text", role: "assistant", event_type: "start", text: "" },
    { type: "partial_text", role: "assistant", event_type: "delta", text: "Hel" },
    { type: "partial_text", role: "assistant", event_type: "delta", text: "lo" },
    { type: "partial_text", role: "assistant", event_type: "stop", text: "", stop_reason: "completed" },
    { type: "text", role: "assistant", text: "Hello", stop_reason: "completed" },
  ]);
});

test("a call has its name on the start only, and empty arguments are {} in delta and message", () => {
  const { messages } = translate([input("c1", "list"), inputEnd("c1"), call("c1", "list", "")]);
  expect(messages.map(({ payload }) => payload)).toEqual([
    {
      type: "partial_tool_call",
      role: "assistant",
      event_type: "start",
      name: "list",
      arguments: "",
      tool_call_id: "c1",
    },
    {
      type: "partial_tool_call",
      role: "assistant",
      event_type: "delta",
      name: "",
      arguments: "{}",
      tool_call_id: "c1",
    },
    {
      type: "partial_tool_call",
      role: "assistant",
      event_type: "stop",
      name: "",
      arguments: "",
      tool_call_id: "c1",
      stop_reason: "completed",
    },
    {
      type: "tool_call",
      role: "assistant",
      name: "list",
      arguments: "{}",
      tool_call_id: "c1",
      stop_reason: "completed",
    },
  ]);
});

test("empty segments and empty deltas leave no message", () => {
  const parts = [start("text"), delta("text", ""), end("text"), start("reasoning"), end("reasoning")];
  expect(translate(parts).messages).toEqual([]);
});

test("a change of type closes the open segment; text after a call is not lost", () => {
  const { complete } = translate([
    start("reasoning"),
    delta("reasoning", "hm"),
    delta("text", "one"),
    input("c1", "list"),
    inputDelta("c1", "{}"),
    delta("text", "two"),
    delta("reasoning", "so"),
    end("reasoning"),
    call("c1", "list", "{}"),
  ]);
  expect(complete.map(contentOf)).toEqual(["hm", "one", "two", "so", "list {}"]);
});

test("pieces of several calls may be mixed", () => {
  const { complete } = translate([
    input("a", "grep"),
    input("b", "read"),
    inputDelta("a", '{"x"'),
    inputDelta("b", '{"y"'),
    inputDelta("a", ":1}"),
    inputDelta("b", ":2}"),
    call("a", "grep", '{"x":1}'),
    call("b", "read", '{"y":2}'),
  ]);
  expect(complete.map(contentOf)).toEqual(['grep {"x":1}', 'read {"y":2}']);
});

test("arguments that come only with the finished call are streamed too", () => {
  expect(translate([call("c1", "list", '{"a":1}')]).complete.map(contentOf)).toEqual(['list {"a":1}']);
});

test("a finished call is held back until a later segment begins", () => {
  const translator = new StreamTranslator((id) => id);
  const types = (part: Part): string[] => translator.push(part).flatMap(({ payload }) => payload.type ?? []);
  types(input("a", "list"));
  expect(types(call("a", "list", "{}"))).toEqual(["partial_tool_call"]);
  expect(types(start("text"))).toEqual([]);
  expect(types(delta("text", "then"))).toEqual(["partial_tool_call", "tool_call", "partial_text", "partial_text"]);
  expect(types(input("b", "list"))).toEqual(["partial_text", "text", "partial_tool_call"]);
  types(call("b", "list", "{}"));
  expect(translator.end(false).map(({ payload }) => payload.type)).toEqual(["partial_tool_call", "tool_call"]);
});

test("in a reply that reached its limit the last call is malformed as it came, whether it parses or not", () => {
  for (const text of ['{"a":1}', '{"a":', ""]) {
    const parts = [input("a", "one"), inputDelta("a", "{}"), input("b", "two"), inputDelta("b", text)];
    const { complete } = translate([...parts, call("a", "one", "{}"), call("b", "two", text)], { cut: true });
    expect(complete).toMatchObject([
      { name: "one", arguments: "{}", stop_reason: "completed" },
      { name: "two", arguments: text, stop_reason: "malformed" },
    ]);
  }
});

test("a call with text behind it was not cut by the limit the text ran into", () => {
  const parts = [input("a", "one"), inputDelta("a", "{}"), delta("text", "and"), end("text"), call("a", "one", "{}")];
  const { complete } = translate(parts, { cut: true });
  expect(complete).toMatchObject([
    { text: "and", stop_reason: "completed" },
    { name: "one", stop_reason: "completed" },
  ]);
});

test("a call that never came to its end is malformed", () => {
  const { complete } = translate([input("a", "one"), inputDelta("a", '{"x"')]);
  expect(complete).toMatchObject([{ arguments: '{"x"', stop_reason: "malformed" }]);
});

test("an interruption closes what is open with its reason, and nothing else (PC-024)", () => {
  const parts = [delta("text", "done"), input("a", "one"), inputDelta("a", '{"x'), delta("text", "half")];
  const { complete } = translate(parts, { interrupted: "aborted" });
  expect(complete).toMatchObject([
    { text: "done", stop_reason: "completed" },
    { text: "half", stop_reason: "aborted" },
    { arguments: '{"x', stop_reason: "aborted" },
  ]);
});

test("fidelity of start, deltas and end accumulates, later values winning (PC-041, PC-046)", () => {
  const { complete } = translate([
    start("reasoning", { itemId: "rs_1", extra: "first" }),
    delta("reasoning", "hm", { itemId: "rs_1" }),
    end("reasoning", { extra: "last" }),
    input("c1", "list", { itemId: "fc_1" }),
    call("c1", "list", "{}", { signature: "sig" }),
  ]);
  expect(complete.map(({ fidelity }) => fidelity)).toEqual([
    { p: { itemId: "rs_1", extra: "last" } },
    { p: { itemId: "fc_1", signature: "sig" } },
  ]);
});

test("a thinking block ends where its fidelity arrives (PC-042)", () => {
  const { complete } = translate([
    delta("reasoning", "one"),
    delta("reasoning", "", { signature: "s1" }),
    delta("reasoning", "two"),
    delta("reasoning", "", { signature: "s2" }),
    end("reasoning"),
  ]);
  expect(complete).toMatchObject([
    { thinking: "one", fidelity: { p: { signature: "s1" } } },
    { thinking: "two", fidelity: { p: { signature: "s2" } } },
  ]);
});

test("hidden thinking is a message without text, apart from its neighbours", () => {
  const { complete } = translate([
    start("reasoning", { redactedData: "x" }),
    end("reasoning"),
    start("reasoning"),
    delta("reasoning", "open"),
    end("reasoning"),
  ]);
  expect(complete).toEqual([
    {
      type: "thinking",
      role: "assistant",
      thinking: "",
      fidelity: { p: { redactedData: "x" } },
      stop_reason: "completed",
    },
    { type: "thinking", role: "assistant", thinking: "open", stop_reason: "completed" },
  ]);
});

test("equal fidelity on each delta does not split thinking, another one does (PC-043)", () => {
  const stamp = { reasoning_field: "reasoning_content" };
  const same = ["a", "b", "c"].map((text) => delta("reasoning", text, stamp));
  expect(translate(same).complete.map(contentOf)).toEqual(["abc"]);
  const other = delta("reasoning", "d", { reasoning_field: "reasoning" });
  expect(translate([...same, other]).complete.map(contentOf)).toEqual(["abc", "d"]);
});

test("text splits where the phase differs and closes on a signature (PC-044, PC-045)", () => {
  const { complete } = translate([
    delta("text", "a", { phase: "commentary" }),
    delta("text", "b", { phase: "commentary" }),
    delta("text", "c", { phase: "final" }),
    delta("text", "d", { signature: "s" }),
    delta("text", "e"),
  ]);
  expect(complete.map(contentOf)).toEqual(["ab", "cd", "e"]);
  expect(complete.map(({ fidelity }) => fidelity)).toEqual([
    { p: { phase: "commentary" } },
    { p: { phase: "final", signature: "s" } },
    undefined,
  ]);
});

test("segments that end at one moment settle as thinking or text, then calls (PC-047)", () => {
  for (const kind of ["text", "reasoning"] as const) {
    const open = [input("a", "one"), inputDelta("a", "{}"), delta(kind, "t")];
    const types = translate([...open, end(kind), call("a", "one", "{}")]).complete.map(({ type }) => type);
    expect(types).toEqual([kind === "text" ? "text" : "thinking", "tool_call"]);
  }
});

test("marks that an adapter put on ids and names are not seen outside", () => {
  const parts = ["read", "read", ""].map((id, i) => call(i === 0 ? id : marked(id, i), marked("", ""), "{}"));
  const ids = translate(parts).complete.map(
    (payload) => payload.type === "tool_call" && [payload.tool_call_id, payload.name],
  );
  expect(ids).toEqual([
    ["read", ""],
    ["read#2", ""],
    [expect.stringMatching(/^call_[0-9a-f]+$/), ""],
  ]);
});

test("a file of the model is one complete message", () => {
  const { complete } = translate([
    delta("text", "see"),
    { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2]) },
  ]);
  expect(complete).toMatchObject([{ text: "see" }, { type: "inline_data", mime_type: "image/png", data: "AQI=" }]);
});

test("whatever a provider streams and however it ends, every segment is closed and whole (PC-006, PC-027)", () => {
  const fidelity = fc.option(
    fc.record({ signature: fc.constantFrom("s", "t"), phase: fc.constantFrom("x", "y") }, { requiredKeys: [] }),
    {
      nil: undefined,
    },
  );
  const text = fc.constantFrom("", "a", " ", "{}");
  const id = fc.constantFrom("c1", "c2", "c3");
  const kind = fc.constantFrom("text" as const, "reasoning" as const);
  const part: fc.Arbitrary<Part> = fc.oneof(
    fc.tuple(kind, fidelity).map(([k, f]) => start(k, f)),
    fc.tuple(kind, text, fidelity).map(([k, t, f]) => delta(k, t, f)),
    fc.tuple(kind, fidelity).map(([k, f]) => end(k, f)),
    id.map((one) => input(one, "tool")),
    fc.tuple(id, text).map(([one, t]) => inputDelta(one, t)),
    fc.tuple(id, text).map(([one, t]) => call(one, "tool", t)),
  );
  const ending: fc.Arbitrary<Ending> = fc.oneof(
    fc.boolean().map((cut) => ({ cut })),
    fc.constantFrom<StopReason[]>("aborted", "timeout", "failed", "malformed").map((interrupted) => ({ interrupted })),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 25 }), ending, (parts, how) => void translate(parts, how)),
    { numRuns: 300 },
  );
});

/** Everything a stream of parts becomes; the rules of segments are checked on the way. */
function translate(
  parts: readonly Part[],
  ending: Ending = { cut: false },
): { messages: OmniMessage[]; complete: CompletePayload[] } {
  const ids = createToolCallIdAllocator();
  const translator = new StreamTranslator((id) => ids.allocate(id));
  const messages = parts.flatMap((part) => [...translator.push(part)]);
  messages.push(...("cut" in ending ? translator.end(ending.cut) : translator.interrupt(ending.interrupted)));
  checkSegments(messages);
  const complete = messages.filter(isCompleteModelMessage);
  expect(translator.reply).toEqual(complete);
  return { messages, complete: complete.map(({ payload }) => payload) };
}

function contentOf(payload: CompletePayload): string {
  if (payload.type === "text") return payload.text;
  if (payload.type === "thinking") return payload.thinking;
  return payload.type === "tool_call" ? `${payload.name} ${payload.arguments}` : payload.type;
}

function metadata(fields: Fields | undefined): { providerMetadata?: { p: Fields } } {
  return fields ? { providerMetadata: { p: fields } } : {};
}

function start(kind: "text" | "reasoning", fields?: Fields): Part {
  return { type: `${kind}-start`, id: kind, ...metadata(fields) };
}

function delta(kind: "text" | "reasoning", text: string, fields?: Fields): Part {
  return { type: `${kind}-delta`, id: kind, delta: text, ...metadata(fields) };
}

function end(kind: "text" | "reasoning", fields?: Fields): Part {
  return { type: `${kind}-end`, id: kind, ...metadata(fields) };
}

function input(id: string, toolName: string, fields?: Fields): Part {
  return { type: "tool-input-start", id, toolName, ...metadata(fields) };
}

function inputDelta(id: string, text: string): Part {
  return { type: "tool-input-delta", id, delta: text };
}

function inputEnd(id: string): Part {
  return { type: "tool-input-end", id };
}

function call(toolCallId: string, toolName: string, text: string, fields?: Fields): Part {
  return { type: "tool-call", toolCallId, toolName, input: text, ...metadata(fields) };
}
