import fc from "fast-check";
import { expect, test } from "vitest";
import { aggregateAll, PartialAggregator } from "./aggregate.ts";
import { assistantText, eventMessage, modelMessage, userText, withOrigin } from "./build.ts";
import type { OmniMessage, StopReason } from "./message.ts";

const begin = eventMessage({ type: "request_begin" });
const end = eventMessage({ type: "request_end", status: "completed" });

test("a segment without a complete message is joined from its fragments", () => {
  const messages = [...textFragments(["Hel", "lo"], "completed"), end];
  expect(payloads(aggregateAll(messages))).toEqual([
    { type: "text", role: "assistant", text: "Hello", stop_reason: "completed" },
    end.payload,
  ]);
});

test("the complete message that follows its fragments stands for them", () => {
  const complete = modelMessage({ type: "text", role: "assistant", text: "Hello", fidelity: { phase: "final" } });
  const aggregator = new PartialAggregator();
  const pushed = [...textFragments(["Hello"]), complete].map((message) => aggregator.push(message));
  expect(pushed).toEqual([[], [], [], [complete]]);
  expect(aggregator.flush()).toEqual([]);
});

test("a stopped segment is released by what its producer says next, and by flush", () => {
  const aggregator = new PartialAggregator();
  for (const fragment of textFragments(["one"])) expect(aggregator.push(fragment)).toEqual([]);
  const thinking = modelMessage({ type: "partial_thinking", role: "assistant", event_type: "start", thinking: "" });
  expect(payloads(aggregator.push(thinking))).toEqual([{ type: "text", role: "assistant", text: "one" }]);
  for (const fragment of outputFragments("call_1", ["done"])) expect(aggregator.push(fragment)).toEqual([]);
  expect(payloads(aggregator.flush())).toEqual([
    { type: "tool_call_output", role: "user", output: "done", tool_call_id: "call_1" },
    { type: "thinking", role: "assistant", thinking: "", stop_reason: "aborted" },
  ]);
  expect(aggregator.flush()).toEqual([]);
});

test("segments of several calls stay apart, however their fragments are mixed", () => {
  const [a, b] = [callFragments("a", "read_file", ['{"x"', ":1}"]), callFragments("b", "list", ["{", "}"])];
  const mixed = a.flatMap((fragment, i) => [fragment, b[i] as OmniMessage]);
  expect(payloads(aggregateAll(mixed))).toEqual([
    { type: "tool_call", role: "assistant", name: "read_file", arguments: '{"x":1}', tool_call_id: "a" },
    { type: "tool_call", role: "assistant", name: "list", arguments: "{}", tool_call_id: "b" },
  ]);
});

test("a child session's segments stay apart from those of its parent", () => {
  const parent = textFragments(["parent"]);
  const child = textFragments(["child"]).map((message) => withOrigin(message, "session-child"));
  const mixed = parent.flatMap((fragment, i) => [fragment, child[i] as OmniMessage]);
  const [first, second] = aggregateAll(mixed);
  expect([first?.origin, first?.payload]).toEqual([undefined, { type: "text", role: "assistant", text: "parent" }]);
  expect([second?.origin, second?.payload]).toEqual([
    ["session-child"],
    { type: "text", role: "assistant", text: "child" },
  ]);
});

test("what a tool says does not come between the model's stop and its complete message", () => {
  const complete = assistantText("Hello");
  const [start, delta, stop] = outputFragments("call_1", ["out"]);
  const progress = eventMessage({ type: "tool_progress", tool_call_id: "call_1", text: "out" });
  const mixed = [...textFragments(["Hello"]), start, progress, delta, complete, stop] as OmniMessage[];
  expect(payloads(aggregateAll(mixed))).toEqual([
    progress.payload,
    complete.payload,
    { type: "tool_call_output", role: "user", output: "out", tool_call_id: "call_1" },
  ]);
});

test("a delta without a start opens its segment", () => {
  expect(payloads(aggregateAll(textFragments(["late"]).slice(1)))).toEqual([
    { type: "text", role: "assistant", text: "late" },
  ]);
});

test("a second start ends the segment before it", () => {
  const [start, delta] = textFragments(["one"]) as [OmniMessage, OmniMessage, OmniMessage];
  const aggregator = new PartialAggregator();
  aggregator.push(start);
  aggregator.push(delta);
  expect(payloads(aggregator.push(start))).toEqual([{ type: "text", role: "assistant", text: "one" }]);
  expect(payloads(aggregator.flush())).toEqual([{ type: "text", role: "assistant", text: "", stop_reason: "aborted" }]);
});

test("images of an output are gathered from its deltas", () => {
  const [start, delta, stop] = outputFragments("call_1", ["see"]) as [OmniMessage, OmniMessage, OmniMessage];
  const images = ["data:image/png;base64,AA=="];
  const withImages = modelMessage({
    type: "partial_tool_call_output",
    role: "user",
    event_type: "delta",
    output: "",
    images,
    tool_call_id: "call_1",
  });
  expect(payloads(aggregateAll([start, delta, withImages, stop]))).toEqual([
    { type: "tool_call_output", role: "user", output: "see", images, tool_call_id: "call_1" },
  ]);
});

test("a user's text during a reply is returned and ends nothing", () => {
  const [start, delta, stop] = textFragments(["answer"]) as [OmniMessage, OmniMessage, OmniMessage];
  const steering = userText("wait");
  expect(payloads(aggregateAll([start, steering, delta, stop]))).toEqual([
    steering.payload,
    { type: "text", role: "assistant", text: "answer" },
  ]);
});

test("unknown payload types are returned as they came", () => {
  const unknown = { ...begin, payload: { type: "weather" } } as unknown as OmniMessage;
  expect(new PartialAggregator().push(unknown)).toEqual([unknown]);
});

test("a stream that keeps the rules comes out as its messages without the fragments", () => {
  const segment = fc
    .tuple(fc.array(fc.string(), { maxLength: 4 }), fc.boolean())
    .map(([pieces, isCall]) => ({ pieces, isCall }));
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 5 }), (segments) => {
      const stream = segments.flatMap(({ pieces, isCall }, i): OmniMessage[] => {
        if (!isCall) return [...textFragments(pieces), assistantText(pieces.join(""))];
        const args = pieces.join("");
        const call = {
          type: "tool_call",
          role: "assistant",
          name: "t",
          arguments: args,
          tool_call_id: `c${i}`,
        } as const;
        return [...callFragments(`c${i}`, "t", pieces), modelMessage(call)];
      });
      const complete = stream.filter((message) => !message.payload.type?.startsWith("partial_"));
      expect(aggregateAll([begin, ...stream, end])).toEqual([begin, ...complete, end]);
      const onlyFragments = stream.filter((message) => message.payload.type?.startsWith("partial_"));
      expect(payloads(aggregateAll(onlyFragments))).toEqual(payloads(complete));
    }),
  );
});

test("a hundred thousand deltas are joined in linear time", () => {
  const pieces = Array<string>(100_000).fill("0123456789");
  const [message] = aggregateAll(textFragments(pieces));
  expect(message?.payload).toEqual({ type: "text", role: "assistant", text: pieces.join("") });
});

function textFragments(pieces: readonly string[], stopReason?: StopReason): OmniMessage[] {
  const fragment = (event_type: "start" | "delta" | "stop", text: string): OmniMessage =>
    modelMessage({
      type: "partial_text",
      role: "assistant",
      event_type,
      text,
      ...(event_type === "stop" && stopReason && { stop_reason: stopReason }),
    });
  return [fragment("start", ""), ...pieces.map((piece) => fragment("delta", piece)), fragment("stop", "")];
}

function callFragments(id: string, name: string, pieces: readonly string[]): OmniMessage[] {
  const call = { type: "partial_tool_call", role: "assistant", tool_call_id: id } as const;
  return [
    modelMessage({ ...call, event_type: "start", name, arguments: "" }),
    ...pieces.map((piece) => modelMessage({ ...call, event_type: "delta", name: "", arguments: piece })),
    modelMessage({ ...call, event_type: "stop", name: "", arguments: "" }),
  ];
}

function outputFragments(id: string, pieces: readonly string[]): OmniMessage[] {
  const output = { type: "partial_tool_call_output", role: "user", tool_call_id: id } as const;
  return [
    modelMessage({ ...output, event_type: "start", output: "" }),
    ...pieces.map((piece) => modelMessage({ ...output, event_type: "delta", output: piece })),
    modelMessage({ ...output, event_type: "stop", output: "" }),
  ];
}

function payloads(messages: readonly OmniMessage[]): unknown[] {
  return messages.map(({ payload }) => payload);
}
