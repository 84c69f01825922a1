import fc from "fast-check";
import { expect, test } from "vitest";
import { mendStream } from "../event-stream.ts";
import { unmarked } from "../provider.ts";
import { MessagesMender } from "./mend-events.ts";

type Value = Readonly<Record<string, unknown>>;

/** As latin1 text. */
function events(...values: readonly unknown[]): string {
  return Buffer.from(values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join("")).toString("latin1");
}

/** What comes of each event, one at a time. */
function mended(...values: readonly unknown[]): Value[] {
  const mender = new MessagesMender();
  return read(values.map((value) => mender.mend(events(value))).join(""));
}

function read(text: string): Value[] {
  return text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => JSON.parse(Buffer.from(event.slice("data: ".length), "latin1").toString()));
}

function start(content_block: object, index = 0): object {
  return { type: "content_block_start", index, content_block };
}

function delta(fields: object, index = 0): object {
  return { type: "content_block_delta", index, delta: fields };
}

function stop(index = 0): object {
  return { type: "content_block_stop", index };
}

const end = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } };

test("a signature in pieces, from the start of its block on, is one piece at its end", () => {
  const block = { type: "thinking", thinking: "so ", signature: "Eq" };
  const pieces = [
    delta({ type: "signature_delta", signature: "gC" }),
    delta({ type: "signature_delta", signature: "==" }),
  ];
  expect(mended(start(block), delta({ type: "thinking_delta", thinking: "it is" }), ...pieces, stop())).toEqual([
    start({ type: "thinking", thinking: "" }),
    delta({ type: "thinking_delta", thinking: "so " }),
    delta({ type: "thinking_delta", thinking: "it is" }),
    delta({ type: "signature_delta", signature: "EqgC==" }),
    stop(),
  ]);
});

test("text in the start of its block is kept", () => {
  expect(mended(start({ type: "text", text: "Hé" }), delta({ type: "text_delta", text: "llo" }), stop())).toEqual([
    start({ type: "text", text: "" }),
    delta({ type: "text_delta", text: "Hé" }),
    delta({ type: "text_delta", text: "llo" }),
    stop(),
  ]);
});

test.each([
  [[], '{"a":1}'],
  [[delta({ type: "input_json_delta", partial_json: '{"a":1}' })], '{"a":1}'],
  [[delta({ type: "input_json_delta", partial_json: { a: 2 } })], '{"a":2}'],
])("arguments in the start of a call count where no pieces follow (%#)", (pieces, text) => {
  const call = { type: "tool_use", id: "c", name: "t", input: { a: 1 } };
  expect(mended(start(call), ...pieces, stop())).toEqual([
    start({ type: "tool_use", id: "c", name: "t" }),
    delta({ type: "input_json_delta", partial_json: text }),
    stop(),
  ]);
});

test("calls without an id, and with one that was used, are told apart", () => {
  const calls = [{ id: "a" }, { id: "a" }, {}, { id: "", name: null }].map((fields, i) =>
    start({ type: "tool_use", name: "t", ...fields }, i),
  );
  const ids = mended(...calls).map(({ content_block }) => Object(content_block).id);
  expect(new Set(ids).size).toBe(4);
  expect(ids.map(unmarked)).toEqual(["a", "a", "", ""]);
});

test("a start that comes twice counts once, and one that is missing is supplied", () => {
  const text = start({ type: "text", text: "" });
  expect(mended(text, text, delta({ type: "text_delta", text: "x" }), stop(), stop())).toHaveLength(3);
  expect(mended(delta({ type: "text_delta", text: "x" }), stop())).toEqual([
    text,
    delta({ type: "text_delta", text: "x" }),
    stop(),
  ]);
  expect(mended(delta({ type: "input_json_delta", partial_json: "{" }), stop())).toEqual([]);
});

test("blocks that nobody asked for are left out with their pieces", () => {
  const search = { type: "server_tool_use", id: "s", name: "web_search", input: { query: "q" } };
  const found = { type: "web_search_tool_result", tool_use_id: "s", content: [] };
  expect(mended(start(search), delta({ type: "input_json_delta", partial_json: "{}" }), stop())).toEqual([]);
  expect(mended(start(found), delta({ type: "text_delta", text: "x" }), stop(), delta({ type: "new_delta" }))).toEqual(
    [],
  );
});

test("blocks that are open at the end are closed", () => {
  expect(mended(start({ type: "tool_use", id: "c", name: "t" }), end, { type: "message_stop" }).slice(-2)).toEqual([
    stop(),
    { type: "message_stop" },
  ]);
});

test("usage is gathered over all events, and no count goes back to zero", () => {
  const first = { type: "message_start", message: { id: "m", usage: { input_tokens: 9, cache_read_input_tokens: 4 } } };
  const last = { type: "message_delta", delta: {}, usage: { input_tokens: 0, output_tokens: 5 } };
  const [, one, two] = mended(first, { ...end, usage: null }, last);
  expect(one).toMatchObject({ usage: { input_tokens: 9, cache_read_input_tokens: 4, output_tokens: 0 } });
  expect(two).toMatchObject({ delta: { stop_reason: "end_turn" }, usage: { input_tokens: 9, output_tokens: 5 } });
  expect(mended({ type: "message_start" })).toMatchObject([{ message: { usage: { input_tokens: 0 } } }]);
});

test("pieces of one block that arrive together are one event", () => {
  const pieces = ["a", "\ud83c", "\udfd4"].map((text) => delta({ type: "text_delta", text }));
  const other = delta({ type: "input_json_delta", partial_json: "{" }, 1);
  const call = start({ type: "tool_use", id: "c", name: "t" }, 1);
  const text = new MessagesMender().mend(events(start({ type: "text", text: "" }), ...pieces, call, other, ...pieces));
  expect(read(text).filter(({ type }) => type === "content_block_delta")).toEqual([
    delta({ type: "text_delta", text: "a🏔" }),
    other,
    delta({ type: "text_delta", text: "a🏔" }),
  ]);
});

test.each([
  ["data: {oops\n\n", "an event of the reply is not JSON: {oops"],
  [
    `event: content_block_delta\ndata: ${"x".repeat(300)}\n\n`,
    `an event of the reply is not JSON: ${"x".repeat(199)}…`,
  ],
])("%j breaks the reply", (event, message) => {
  expect(read(new MessagesMender().mend(event))).toEqual([{ type: "error", error: { type: "broken_reply", message } }]);
});

test.each([
  ": keep-alive\n\n",
  "event: ping\ndata: {}\n\n",
  "event: heartbeat\ndata: beep\n\n",
  "data: [DONE]\n\n",
  "data: null\n\n",
  "data:\n\n",
  'event: model_hint\ndata: {"type":"model_hint"}\n\n',
  'data: {"type":"content_block_start"}\n\n',
])("%j is no part of a reply", (event) => {
  expect(new MessagesMender().mend(event)).toBe("");
});

test.each([
  [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "overloaded_error", "Overloaded"],
  [{ error: { code: "1302", message: "slow" } }, "1302", "slow"],
  [{ type: "error", error: "boom" }, "error", "boom"],
  [{ type: "error", message: "boom" }, "error", "boom"],
  [{ type: "error", error: { why: 1 } }, "error", '{"why":1}'],
])("the error event %j keeps its type and words", (value, type, message) => {
  expect(mended(value)).toEqual([{ type: "error", error: { type, message } }]);
});

test("a stream is whole with message_stop or a reason to stop, and nothing behind its end counts", () => {
  const mender = new MessagesMender();
  expect([mender.finished, mender.done]).toEqual([false, false]);
  mender.mend(events(end));
  expect([mender.finished, mender.done]).toEqual([true, false]);
  expect(read(mender.end(""))).toEqual([{ type: "message_stop" }]);
  expect(mender.done).toBe(true);
  expect(mender.mend(events(delta({ type: "text_delta", text: "x" })))).toBe("");
});

test("a stream that ends without its end breaks off; its last event may lack the blank line", () => {
  const broken = { type: "error", error: { type: "broken_reply", message: "the reply ended without its end marker" } };
  expect(read(new MessagesMender().end('data: {"type":"mess'))).toEqual([broken]);
  expect(read(new MessagesMender().end('data: {"type":"message_stop"}'))).toEqual([{ type: "message_stop" }]);
  expect(read(new MessagesMender().end('{\n"error": {"type": "t", "message": "no"}\n}'))).toEqual([
    { type: "error", error: { type: "t", message: "no" } },
  ]);
});

test("a stream is mended the same wherever its bytes are cut", async () => {
  const call = { type: "tool_use", id: "c", name: "t", input: {} };
  const bytes = Buffer.from(
    [
      { type: "message_start", message: { usage: { input_tokens: 1 } } },
      start({ type: "thinking", thinking: "" }),
      delta({ type: "thinking_delta", thinking: "hé\n" }),
      delta({ type: "signature_delta", signature: "A" }),
      delta({ type: "signature_delta", signature: "==" }),
      stop(),
      start({ type: "text", text: "日" }, 1),
      delta({ type: "text_delta", text: "本🙂" }, 1),
      stop(1),
      start(call, 2),
      start({ ...call, id: "d" }, 3),
      delta({ type: "input_json_delta", partial_json: '{"a":"\\ud8' }, 2),
      delta({ type: "input_json_delta", partial_json: '{"b":"…"}' }, 3),
      delta({ type: "input_json_delta", partial_json: '3d\\ude42"}' }, 2),
      stop(2),
      stop(3),
      end,
      { type: "message_stop" },
    ]
      .map((value, i) => `${i % 2 ? ": beat\r\n\r\nevent: x\r\n" : ""}data: ${JSON.stringify(value)}\r\n\r\n`)
      .join(""),
  );
  const whole = await all([bytes]);
  expect([...whole.pieces.values()]).toEqual(["hé\n", "A==", "日本🙂", '{"a":"\\ud83d\\ude42"}', '{"b":"…"}']);
  for (let at = 1; at < bytes.length; at += 1) {
    expect(await all([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
  }
  expect(await all([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
  const cuts = fc.array(fc.nat(bytes.length), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(cuts, async (places) => {
      const ends = [...places.toSorted((a, b) => a - b), bytes.length];
      expect(await all(ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end)))).toEqual(whole);
    }),
  );
});

/** What comes of a stream, the pieces of each block put together. */
async function all(chunks: readonly Uint8Array[]): Promise<{ rest: Value[]; pieces: Map<string, string> }> {
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const mended: Uint8Array[] = [];
  for await (const chunk of mendStream(source, new MessagesMender())) mended.push(chunk);
  const pieces = new Map<string, string>();
  const rest: Value[] = [];
  for (const value of read(Buffer.concat(mended).toString("latin1"))) {
    const { type = "", ...fields } = Object(value.delta);
    if (value.type !== "content_block_delta") rest.push(value);
    else
      pieces.set(
        `${value.index} ${type}`,
        (pieces.get(`${value.index} ${type}`) ?? "") + Object.values(fields).join(""),
      );
  }
  return { rest, pieces };
}
