import fc from "fast-check";
import { expect, test } from "vitest";
import { marked } from "../provider.ts";
import { mendEvents } from "./mend-events.ts";

const NO_NAME = marked("", "");
const END = 'data: {"choices":[{"delta":{},"finish_reason": "stop"}]}\n\n';
const NO_END = 'data: {"error":{"message":"the reply ended without its end marker","type":"broken_reply"}}\n\n';

test("events without tool calls pass through byte for byte, wherever the stream is cut", async () => {
  const body =
    '\ufeff: comment\r\n\r\nevent: message\r\ndata: {"choices":[{"delta":{"content":"日本 🙂 \\"tool_calls\\""}}]}\r\n\r\n' +
    'data:{"choices":[{"delta":{"content":"B"}}]}\n\ndata: {"a":1,\ndata: "b":2}\n\ndata: x\r\r: end\n\n' +
    END;
  const bytes = Buffer.from(body);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 30 }), async (cuts) => {
      expect(await mended(pieces(bytes, cuts))).toEqual(bytes);
    }),
    { numRuns: 60 },
  );
});

test("rewritten events are the same wherever the stream is cut", async () => {
  const body = events(
    piece({ index: 0, id: "a", type: "function", function: { name: "read", arguments: '{"p":"é🙂' } }),
    piece({ index: 0, function: { arguments: '"}' } }),
    piece({ index: 0, id: "b", function: { name: "read", arguments: "{}" } }),
    { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
  ).replaceAll("\n", "\r\n");
  const bytes = Buffer.from(body);
  const whole = await mended([bytes]);
  expect(calls(whole)).toEqual([
    ["a", "read", '{"p":"é🙂"}'],
    ["b", "read", "{}"],
  ]);
  for (let at = 1; at < bytes.length; at += 1)
    expect(await mended([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
  expect(await mended(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toEqual(whole);
});

const one = { function: { name: "read", arguments: '{"p":1}' } };
const two = { function: { name: "read", arguments: '{"p":2}' } };

test.each<[string, object[], string[][]]>([
  [
    "a new id at a used index is a new call",
    [
      { index: 0, id: "a", ...one },
      { index: 0, id: "b", ...two },
    ],
    [
      ["a", '{"p":1}'],
      ["b", '{"p":2}'],
    ],
  ],
  [
    "pieces without id go to the call at their index",
    [
      { index: 0, id: "a", function: { name: "read", arguments: "" } },
      { index: 1, id: "b", function: { name: "read", arguments: "" } },
      { index: 0, function: { arguments: "{1" } },
      { index: 1, function: { arguments: "{2" } },
      { index: 0, function: { arguments: "}" } },
    ],
    [
      ["a", "{1}"],
      ["b", "{2"],
    ],
  ],
  [
    "pieces with ids at one index go to the call of their id",
    [
      { index: 0, id: "a", function: { name: "read", arguments: "{1" } },
      { index: 0, id: "b", function: { name: "read", arguments: "{2" } },
      { index: 0, id: "a", function: { arguments: "1}" } },
      { index: 0, id: "b", function: { arguments: "2}" } },
    ],
    [
      ["a", "{11}"],
      ["b", "{22}"],
    ],
  ],
  [
    "an id that changes on the way changes nothing",
    [
      { index: 0, id: "a", function: { name: "read", arguments: "{" } },
      { index: 0, id: "x", function: { arguments: "}" } },
    ],
    [["a", "{}"]],
  ],
  [
    "an id and name repeated with every piece change nothing",
    [
      { index: 0, id: "a", function: { name: "read", arguments: "{" } },
      { index: 0, id: "a", function: { name: "read", arguments: "}" } },
      { index: 0, id: "a", function: { name: "read", arguments: "" } },
    ],
    [["a", "{}"]],
  ],
  [
    "two calls with one id are told apart by a mark",
    [
      { index: 0, id: "a", ...one },
      { index: 1, id: "a", ...two },
    ],
    [
      ["a", '{"p":1}'],
      [marked("a", 1), '{"p":2}'],
    ],
  ],
  [
    "two calls with one id at one index too",
    [
      { index: 0, id: "a", ...one },
      { index: 0, id: "a", ...two },
    ],
    [
      ["a", '{"p":1}'],
      [marked("a", 1), '{"p":2}'],
    ],
  ],
  [
    "a name repeated behind complete arguments begins a call when they begin anew",
    [
      { index: 0, function: { name: "read", arguments: "" } },
      { index: 0, function: { arguments: '{"p":' } },
      { index: 0, function: { arguments: "{}}" } },
      { index: 0, function: { name: "read", arguments: "" } },
      { index: 0, function: { arguments: '{"p":' } },
      { index: 0, function: { arguments: "2}" } },
    ],
    [
      [marked("", 0), '{"p":{}}'],
      [marked("", 1), '{"p":2}'],
    ],
  ],
  [
    "so it does with one id for both",
    [
      { index: 0, id: "a", function: { name: "read", arguments: "" } },
      { index: 0, function: { arguments: "{}" } },
      { index: 0, id: "a", function: { name: "read", arguments: "" } },
      { index: 0, function: { arguments: '{"p"' } },
      { index: 0, function: { arguments: ":2}" } },
    ],
    [
      ["a", "{}"],
      [marked("a", 1), '{"p":2}'],
    ],
  ],
  [
    "missing ids are marked",
    [
      { index: 0, ...one },
      { index: 1, ...two },
    ],
    [
      [marked("", 0), '{"p":1}'],
      [marked("", 1), '{"p":2}'],
    ],
  ],
  [
    "empty ids are missing ones",
    [
      { index: 0, id: "", ...one },
      { index: 0, id: " ", ...two },
    ],
    [
      [marked("", 0), '{"p":1}'],
      [marked("", 1), '{"p":2}'],
    ],
  ],
  [
    "a missing index is no hindrance",
    [
      { id: "a", ...one },
      { id: "b", ...two },
    ],
    [
      ["a", '{"p":1}'],
      ["b", '{"p":2}'],
    ],
  ],
  [
    "neither is a missing index and id",
    [one, two],
    [
      [marked("", 0), '{"p":1}'],
      [marked("", 1), '{"p":2}'],
    ],
  ],
  [
    "arguments alone go to the latest call",
    [{ id: "a", function: { name: "read", arguments: "{" } }, { function: { arguments: "}" } }],
    [["a", "{}"]],
  ],
  [
    "arguments alone at an unknown index as well",
    [
      { index: 0, id: "a", function: { name: "read", arguments: "{" } },
      { index: 5, function: { arguments: "}" } },
    ],
    [["a", "{}"]],
  ],
  ["arguments of null are none", [{ index: 0, id: "a", function: { name: "read", arguments: null } }], [["a", ""]]],
  [
    "arguments as an object are written out",
    [{ index: 0, id: "a", function: { name: "read", arguments: { p: 1 } } }],
    [["a", '{"p":1}']],
  ],
  [
    "a name that comes late is waited for",
    [
      { index: 0, id: "a", function: { arguments: "{" } },
      { index: 0, function: { name: "read", arguments: "}" } },
    ],
    [["a", "{}"]],
  ],
  [
    "a piece without function is a piece without anything",
    [
      { index: 0, id: "a" },
      { index: 0, ...one },
    ],
    [["a", '{"p":1}']],
  ],
  ["what is no object is no piece", [7, null, { index: 0, id: "a", ...one }] as object[], [["a", '{"p":1}']]],
  ["arguments that belong to nothing are dropped", [{ index: 0, function: { arguments: "{}" } }], []],
])("%s", async (_, toolCalls, expected) => {
  const end = { choices: [{ delta: {}, finish_reason: "tool_calls" }] };
  const apart = await mended([Buffer.from(events(...toolCalls.map(piece), end))]);
  expect(calls(apart).map(([id, , text]) => [id, text])).toEqual(expected);
});

test("calls in one event are told apart by their place when they have neither index nor id", async () => {
  const unnamed = { function: { name: "read", arguments: "" } };
  const event = { choices: [{ delta: { tool_calls: [unnamed, unnamed] } }] };
  expect(calls(await mended([Buffer.from(events(event))]))).toHaveLength(2);
});

test("a call with an id and no name at all is sent on under an empty name at the end", async () => {
  const blank = piece({ index: 0, id: "a", function: { name: "", arguments: "" } });
  const body = events(blank, piece({ index: 0, function: { arguments: "{}" } }), {
    choices: [{ finish_reason: "stop" }],
  });
  expect(calls(await mended([Buffer.from(body)]))).toEqual([["a", NO_NAME, "{}"]]);
});

test("what a call brings beside id, name and arguments is kept", async () => {
  const extra_content = { google: { thought_signature: "sig" } };
  const text = (await mended([Buffer.from(events(piece({ index: 0, id: "a", extra_content, ...one })))])).toString();
  expect(text).toContain(JSON.stringify(extra_content));
});

test("what a call brought before its name is not taken back by a null", async () => {
  const extra = { google: { thought_signature: "S" } };
  const body = events(
    piece({ index: 0, id: "a", extra_content: extra }),
    piece({ index: 0, extra_content: null, ...one }),
  );
  expect((await mended([Buffer.from(body)])).toString()).toContain(`"extra_content":${JSON.stringify(extra)}`);
});

test("the stream ends at [DONE] though the connection stays open", async () => {
  let cancelled = false;
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from(`${END}data: [DONE]\n\ndata: 2\n\n`)),
    cancel: () => {
      cancelled = true;
    },
  });
  expect((await all(mendEvents(source))).toString()).toBe(`${END}data: [DONE]\n\n`);
  expect(cancelled).toBe(false);
});

test("after a finish reason the stream ends well, however the connection ends; before it, it breaks", async () => {
  const breaking = (text: string): ReadableStream<Uint8Array> => {
    const steps = [() => Buffer.from(text), () => Promise.reject(new Error("reset"))];
    return new ReadableStream({
      pull: async (controller) => controller.enqueue(await (steps.shift() ?? Promise.reject)()),
    });
  };
  expect((await all(mendEvents(breaking(END)))).toString()).toBe(END);
  await expect(all(mendEvents(breaking('data: {"choices":[{"finish_reason":null}]}\n\n')))).rejects.toThrow("reset");
});

test("a stream that ends without a finish reason, or with one of giving up, ends with an error", async () => {
  expect((await mended([])).toString()).toBe(NO_END);
  expect((await mended([Buffer.from("data: 1\n\n")])).toString()).toBe(`data: 1\n\n${NO_END}`);
  expect((await mended([Buffer.from("data: [DONE]\n\n")])).toString()).toBe(`${NO_END}data: [DONE]\n\n`);
  const gaveUp = events({ choices: [{ delta: {}, finish_reason: "insufficient_system_resource" }] });
  expect((await mended([Buffer.from(gaveUp)])).toString()).toMatch(
    /^data: \{"error":\{"message":"the provider gave the reply up \(insufficient_system_resource\)"/,
  );
});

test("an empty finish reason is none, and an error beside one is left as it is", async () => {
  const empty = events({ choices: [{ delta: { content: "a" }, finish_reason: "" }] });
  expect((await mended([Buffer.from(empty)])).toString()).toBe(empty.replace('""', "null") + NO_END);
  const failed = events({
    choices: [{ delta: {}, finish_reason: "error" }],
    error: { message: "overloaded", code: 502 },
  });
  expect((await mended([Buffer.from(failed)])).toString()).toBe(failed + NO_END);
});

test("the last event may lack its blank line; half an event is dropped", async () => {
  expect((await mended([Buffer.from(END.trimEnd())])).toString()).toBe(END);
  expect((await mended([Buffer.from(`${END}data: {"a":`)])).toString()).toBe(END);
  expect((await mended([Buffer.from(`${END}data: [DONE]`)])).toString()).toBe(`${END}data: [DONE]\n\n`);
});

test("a body that is one JSON object is read as an event", async () => {
  const error = '{\n  "error": { "message": "no" }\n}\n';
  expect((await mended([Buffer.from(error)])).toString()).toMatch(
    /^data: \{ {3}"error": \{ "message": "no" \} \} \n\n/,
  );
  const message = { role: "assistant", content: "hi", tool_calls: [{ id: "a", type: "function", ...one }] };
  const reply = await mended([Buffer.from(JSON.stringify({ choices: [{ message, finish_reason: "tool_calls" }] }))]);
  expect(calls(reply)).toEqual([["a", "read", '{"p":1}']]);
  expect(reply.toString()).toContain('"content":"hi"');
});

test("a reply without line ends is given up before it fills the memory", async () => {
  const mebibyte = Buffer.alloc(2 ** 20, "x");
  let given = 0;
  let cancelled = false;
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      given += 1;
      controller.enqueue(mebibyte);
    },
    cancel: () => {
      cancelled = true;
    },
  });
  expect((await all(mendEvents(source))).toString()).toBe(
    'data: {"error":{"message":"an event of the reply is longer than 64 MiB","type":"broken_reply"}}\n\n',
  );
  expect(cancelled).toBe(true);
  expect(given).toBeLessThan(70);
});

test("leaving the stream cancels the source", async () => {
  let cancelled = false;
  const source = new ReadableStream<Uint8Array>({
    cancel: () => {
      cancelled = true;
    },
  });
  await mendEvents(source).cancel();
  expect(cancelled).toBe(true);
});

async function mended(chunks: readonly Uint8Array[]): Promise<Buffer> {
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  return all(mendEvents(source));
}

async function all(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end));
}

function piece(toolCall: object): object {
  return { choices: [{ index: 0, delta: { tool_calls: [toolCall] }, finish_reason: null }] };
}

function events(...values: object[]): string {
  return values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join("");
}

/** The calls in a mended stream, put together by index alone: id, name, arguments. */
function calls(stream: Buffer): string[][] {
  const found: [id: string, name: string, text: string][] = [];
  for (const event of stream
    .toString()
    .split("\n\n")
    .filter((text) => text.includes('"tool_calls":['))) {
    for (const { index, id, function: body } of JSON.parse(event.slice(6)).choices[0].delta.tool_calls) {
      found[index] ??= [id, body.name, ""];
      found[index][2] += body.arguments;
    }
  }
  return found;
}
