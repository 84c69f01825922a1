import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { modelOver } from "../../../../test/support/adapter-kit.ts";
import { ask, callsOf, textOf, thinkingOf } from "../../../../test/support/ask.ts";
import type { CollectedReply } from "../../../../test/support/collect-reply.ts";
import {
  added,
  argumentsDelta,
  completed,
  done,
  functionCall,
  message,
  reply,
  type Sent,
  sse,
  textDelta,
  thinkingDelta,
} from "../../../../test/support/responses-wire.ts";
import { userText } from "../../../omnimessage/build.ts";
import { isPartialPayload } from "../../../omnimessage/guards.ts";
import type { GenerativeModel } from "../../generative-model.ts";
import { mendEvents } from "./mend-events.ts";
import { joinDeltas } from "./wire-event.ts";

const model = modelOver("openai-responses");

/** A model whose server answers with these bytes, cut at these places, and keeps what it was asked. */
function answered(body: string, cuts: readonly number[] = []): GenerativeModel & { asked: string[] } {
  const bytes = Buffer.from(body);
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    asked.push(String(init?.body));
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
        for (const [i, place] of places.entries()) {
          const chunk = bytes.subarray(place, places[i + 1]);
          if (i < places.length - 1 && chunk.length > 0) controller.enqueue(chunk);
        }
        controller.close();
      },
    });
    return new Response(stream);
  };
  return Object.assign(model({ url: "http://127.0.0.1:9" }, { fetch, modelId: "local" }), { asked });
}

function said(...events: Sent[]): Promise<CollectedReply> {
  return ask(answered(reply(...events)));
}

/** The messages of a reply without what differs from one to the next. */
function sameOf({ complete, outcome, usage }: CollectedReply): unknown {
  return { complete, outcome, usage: usage?.request };
}

// Cuts.

const everything = [
  added({ type: "reasoning", id: "rs_1" }, 0),
  thinkingDelta("hé", "rs_1", 0),
  thinkingDelta("🙂", "rs_1", 0),
  done({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" }, 0),
  ...message("日本", "msg_1", 1),
  added(functionCall("a", ""), 2),
  added(functionCall("b", ""), 3),
  argumentsDelta('{"p":"', "fc_a", 2),
  argumentsDelta('{"q":"🏔', "fc_b", 3),
  argumentsDelta('é"}', "fc_a", 2),
  argumentsDelta('"}', "fc_b", 3),
  done(functionCall("a", '{"p":"é"}'), 2),
  done(functionCall("b", '{"q":"🏔"}'), 3),
  completed({ usage: { input_tokens: 3, output_tokens: 4 } }),
];
const whole = `: hello\n\n${everything.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join("")}`;

/** What the package reads of these pieces of a stream, with pieces of one text joined. */
async function mended(pieces: (string | Uint8Array)[]): Promise<string> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(Buffer.from(piece));
      controller.close();
    },
  });
  let text = "";
  for await (const bytes of mendEvents(body)) text += Buffer.from(bytes).toString();
  const events = text.split("\n\n").flatMap((event) => (event === "" ? [] : [JSON.parse(event.slice(6))]));
  return JSON.stringify(joinDeltas(events));
}

test("a stream cut at any byte is the same to the package, and gives the same messages (PC-040)", async () => {
  const bytes = Buffer.from(whole);
  const events = await mended([bytes]);
  for (let cut = 1; cut < bytes.length; cut += 1) {
    const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
    if ((await mended(pieces)) !== events) expect.fail(`cut at ${cut} it is another stream`);
  }
  const single = Array.from({ length: bytes.length }, (_, i) => i);
  const got = sameOf(await ask(answered(whole, single)));
  expect(got).toEqual(sameOf(await ask(answered(whole))));
  expect(got).toMatchObject({
    complete: [
      { thinking: "hé🙂" },
      { text: "日本" },
      { tool_call_id: "a", arguments: '{"p":"é"}' },
      { tool_call_id: "b", arguments: '{"q":"🏔"}' },
    ],
    outcome: { status: "completed", finishReason: "tool_calls" },
    usage: { total: 7 },
  });
});

test("a stream in pieces of any size gives the same messages (PC-040)", async () => {
  const expected = sameOf(await ask(answered(whole)));
  const cuts = fc.array(fc.nat(Buffer.byteLength(whole)), { maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(cuts, async (at) => {
      expect(sameOf(await ask(answered(whole, at)))).toEqual(expected);
    }),
    { numRuns: 25 },
  );
});

test("a stream that ends after any number of its events is broken, but for the last", async () => {
  for (let count = 0; count < everything.length; count += 1) {
    const got = await ask(answered(sse(...everything.slice(0, count))));
    expect(got.outcome.status, `${count} events`).toBe("malformed");
    for (const payload of got.complete.slice(-1)) expect(["completed", "malformed"]).toContain(payload.stop_reason);
  }
});

test("pieces that arrive together are joined", async () => {
  const pieces = Array.from({ length: 50 }, (_, i) => textDelta(`${i} `, "msg_1", 0));
  const got = await said(
    added({ type: "message", id: "msg_1" }, 0),
    ...pieces,
    done({ type: "message", id: "msg_1" }, 0),
  );
  expect(textOf(got)).toBe(pieces.map((_, i) => `${i} `).join(""));
  const deltas = got.messages.filter(({ payload }) => isPartialPayload(payload) && payload.event_type === "delta");
  expect(deltas).toHaveLength(1);
});

// Servers that do not keep to the protocol.

test("ids that change with every event do not lose the item, and do not go back", async () => {
  const rotating = (): string => randomBytes(200).toString("hex");
  const llm = answered(
    reply(
      added({ type: "reasoning", id: rotating(), summary: [] }, 0),
      { type: "response.reasoning_summary_part.added", item_id: rotating(), output_index: 0, summary_index: 0 },
      thinkingDelta("he", rotating(), 0),
      thinkingDelta("lp", rotating(), 0),
      { type: "response.reasoning_summary_part.done", item_id: rotating(), output_index: 0, summary_index: 0 },
      { type: "response.reasoning_summary_part.added", item_id: rotating(), output_index: 0, summary_index: 1 },
      thinkingDelta("more", rotating(), 0, 1),
      done({ type: "reasoning", id: rotating(), summary: [], encrypted_content: "sealed" }, 0),
      added({ type: "message", id: rotating() }, 1),
      textDelta("sure", rotating(), 1),
      done({ type: "message", id: rotating(), content: [{ type: "output_text", text: "sure" }] }, 1),
      added(functionCall("a", "", { id: rotating() }), 2),
      argumentsDelta('{"p":1}', rotating(), 2),
      done(functionCall("a", '{"p":1}', { id: rotating() }), 2),
    ),
  );
  const got = await ask(llm);
  expect(thinkingOf(got)).toEqual(["help", "more"]);
  expect(textOf(got)).toBe("sure");
  expect(callsOf(got)).toMatchObject([{ tool_call_id: "a", arguments: '{"p":1}' }]);
  await ask(llm, userText("and?"));
  const { input } = JSON.parse(llm.asked[1] ?? "");
  expect(input.slice(1)).toEqual([
    { type: "reasoning", encrypted_content: "sealed", summary: [{ type: "summary_text", text: "more" }] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "sure" }] },
    { type: "function_call", call_id: "a", name: "read_file", arguments: '{"p":1}' },
    { type: "message", role: "user", content: [{ type: "input_text", text: "and?" }] },
  ]);
});

test("a server without ids, places and encrypted reasoning is understood, and gets back what it takes", async () => {
  const llm = answered(
    reply(
      added({ type: "reasoning", content: [] }),
      { type: "response.reasoning_text.delta", delta: "let me " },
      { type: "response.reasoning_text.delta", delta: "see" },
      done({ type: "reasoning", content: [{ type: "reasoning_text", text: "let me see" }], encrypted_content: null }),
      added({ type: "message" }),
      textDelta("so"),
      done({ type: "message", content: [{ type: "output_text", text: "so" }] }),
      added({ type: "function_call", name: "read_file" }),
      argumentsDelta('{"p":'),
      argumentsDelta("1}"),
      done({ type: "function_call", name: "read_file" }),
    ),
  );
  const got = await ask(llm);
  expect(got.complete).toMatchObject([
    { thinking: "let me see" },
    { text: "so" },
    { name: "read_file", arguments: '{"p":1}', tool_call_id: expect.stringMatching(/^call_\w{24}$/) },
  ]);
  expect(got.complete.map(({ fidelity }) => fidelity)).toEqual([undefined, undefined, undefined]);
  await ask(llm, userText("and?"));
  const { input } = JSON.parse(llm.asked[1] ?? "");
  expect(input.slice(1, 3)).toEqual([
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "so" }] },
    {
      type: "function_call",
      call_id: callsOf(got)[0]?.tool_call_id,
      name: "read_file",
      arguments: '{"p":1}',
    },
  ]);
});

test("items that are all at one place are told apart by their ids", async () => {
  const got = await said(
    added(functionCall("a", ""), 0),
    added(functionCall("b", ""), 0),
    argumentsDelta('{"n":1}', "fc_a", 0),
    argumentsDelta('{"n":2}', "fc_b", 0),
    done(functionCall("b", '{"n":2}'), 0),
    done(functionCall("a", '{"n":1}'), 0),
  );
  expect(new Map(callsOf(got).map((call) => [call.tool_call_id, call.arguments]))).toEqual(
    new Map([
      ["a", '{"n":1}'],
      ["b", '{"n":2}'],
    ]),
  );
});

test("what is told only at the end of an item is not lost", async () => {
  const got = await said(
    done({ type: "reasoning", id: "rs_1", summary: [{ text: "one" }, { text: "two" }], encrypted_content: "s" }, 0),
    done({ type: "message", id: "msg_1", content: [{ type: "output_text", text: "so" }, { refusal: " no" }] }, 1),
    { type: "response.output_item.added", output_index: 2, item: functionCall("a", "") },
    { type: "response.function_call_arguments.done", item_id: "fc_a", output_index: 2, arguments: '{"n":1}' },
    done(functionCall("a", undefined), 2),
    done(functionCall("b", { n: 2 }, { status: undefined }), 3),
  );
  expect(thinkingOf(got)).toEqual(["one", "two"]);
  expect(textOf(got)).toBe("so no");
  expect(callsOf(got).map((call) => call.arguments)).toEqual(['{"n":1}', '{"n":2}']);
});

test("what is told only at the end of the reply is not lost, and nothing is told twice", async () => {
  const output = [
    { type: "reasoning", id: "rs_9", summary: [{ text: "hm" }] },
    { type: "message", id: "msg_9", content: [{ type: "output_text", text: "so" }] },
    functionCall("a", '{"n":1}'),
    { type: "web_search_call", id: "ws_1", status: "completed" },
  ];
  const atOnce = await ask(answered(sse(completed({ output }))));
  expect(atOnce.complete).toMatchObject([{ thinking: "hm" }, { text: "so" }, { arguments: '{"n":1}' }]);
  const streamed = await ask(answered(sse(...message("so"), completed({ output }))));
  expect(streamed.complete).toMatchObject([{ text: "so" }, { thinking: "hm" }, { arguments: '{"n":1}' }]);
});

test("a call that only the end of the reply tells of is not lost beside others", async () => {
  const streamed = [added(functionCall("a", ""), 0), done(functionCall("a", '{"n":1}'), 0)];
  const output = [functionCall("a", '{"n":1}'), functionCall("b", '{"n":2}')];
  const got = await ask(answered(sse(...streamed, completed({ output }))));
  expect(callsOf(got)).toMatchObject([
    { tool_call_id: "a", arguments: '{"n":1}' },
    { tool_call_id: "b", arguments: '{"n":2}' },
  ]);
});

test.each<[string, string | null, string]>([
  ["another id", "x", '{"n":1}'],
  ["another id and its arguments written otherwise", "x", '{ "n": 1 }'],
  ["another id and other arguments", "x", '{"n":7}'],
  ["another id and arguments nested deeply", "x", "[".repeat(100_000) + "]".repeat(100_000)],
  ["no id", null, '{"n":1}'],
])("a call that the end of the reply tells again with %s is one call", async (_, call_id, args) => {
  const streamed = [added(functionCall("a", ""), 0), done(functionCall("a", '{"n":1}'), 0)];
  const output = [functionCall(call_id, args, { id: `fc_${call_id}` })];
  const got = await ask(answered(sse(...streamed, completed({ output }))));
  expect(callsOf(got)).toMatchObject([{ tool_call_id: "a", arguments: '{"n":1}' }]);
});

test("a call that was never finished has what came of it", async () => {
  const got = await said(added(functionCall("a", ""), 0), argumentsDelta('{"n":1}', "fc_a", 0));
  expect(callsOf(got)).toMatchObject([{ tool_call_id: "a", arguments: '{"n":1}', stop_reason: "completed" }]);
});

test("a call without a name reaches the engine, which has to answer it", async () => {
  const got = await said(
    added(functionCall("a", "", { name: undefined }), 0),
    argumentsDelta("{}", "fc_a", 0),
    done(functionCall("a", "{}", { name: undefined }), 0),
    done(functionCall("b", "{}", { name: "" }), 1),
    added(functionCall("c", "", { name: undefined }), 2),
    argumentsDelta('{"n":1}', "fc_c", 2),
    done(functionCall("c", '{"n":1}'), 2),
  );
  expect(callsOf(got)).toMatchObject([
    { name: "", tool_call_id: "a", arguments: "{}" },
    { name: "", tool_call_id: "b" },
    { name: "read_file", tool_call_id: "c", arguments: '{"n":1}' },
  ]);
});

test("a response in one JSON body is a reply, whichever way it ended", async () => {
  const output = [{ type: "message", id: "msg_1", content: [{ type: "output_text", text: "Hi" }] }];
  const body = (fields: object): string => JSON.stringify({ object: "response", output, ...fields }, null, 2);
  const got = await ask(answered(body({ status: "completed", usage: { input_tokens: 3, output_tokens: 1 } })));
  expect(textOf(got)).toBe("Hi");
  expect(got.usage?.request.total).toBe(4);
  const details = { incomplete_details: { reason: "max_output_tokens" } };
  expect((await ask(answered(body({ status: "incomplete", ...details })))).outcome.finishReason).toBe("length");
  const failed = await ask(answered(body({ status: "failed", error: { code: "server_error", message: "Oh." } })));
  expect(failed.outcome).toMatchObject({ status: "timeout", message: expect.stringContaining("Oh.") });
  const refused = await ask(answered(JSON.stringify({ error: { type: "invalid_request_error", message: "No." } })));
  expect(refused.outcome).toMatchObject({ status: "failed", permanent: true });
});

test("heartbeats, comments, unknown events and those of the service's own tools are no hindrance", async () => {
  const got = await said(
    null,
    "7",
    [],
    {},
    { type: "ping" },
    { type: "keepalive", sequence_number: 3 },
    "[DONE]",
    "",
    added({ type: "web_search_call", id: "ws_1", status: "in_progress" }, 0),
    { type: "response.web_search_call.completed", item_id: "ws_1" },
    done({ type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search" } }, 0),
    done({ type: "image_generation_call", id: "ig_1", result: "AAAA" }, 1),
    done({ type: "something_new", id: "x" }, 2),
    added({ type: "message", id: "msg_1" }, 3),
    { type: "response.content_part.added", item_id: "msg_1", output_index: 3, part: { type: "output_text" } },
    { type: "response.output_text.annotation.added", item_id: "msg_1", annotation: { type: "new" } },
    textDelta("", "msg_1", 3),
    textDelta("Hi", "msg_1", 3),
    { type: "response.output_text.delta", item_id: "msg_1", output_index: 3, delta: 7 },
    { type: "response.output_text.done", item_id: "msg_1", output_index: 3, text: "Hi" },
    done({ type: "message", id: "msg_1", content: "Hi" }, 3),
    textDelta("late", "msg_1", 3),
    done({ type: "message", id: "msg_1" }, 3),
    added([], 4),
    done({ type: "message", content: [null, 7, { text: 8 }] }, "x" as unknown as number),
  );
  expect(got.outcome).toEqual({ status: "completed", finishReason: "stop" });
  expect(got.complete).toMatchObject([{ type: "text", text: "Hi" }]);
});

test("an event may be named by the stream alone, and its data stand on two lines", async () => {
  const item = { id: "msg_1", type: "message" };
  const body =
    `\ufeffevent: response.output_item.added\ndata: ${JSON.stringify({ output_index: 0, item })}\n\n` +
    'event: response.output_text.delta\ndata: {"item_id":"msg_1",\ndata: "output_index":0,"delta":"Hi"}\n\n' +
    'event: response.completed\nid: 7\nretry: 3\ndata: {"response":{}}\n\n';
  expect(textOf(await ask(answered(body)))).toBe("Hi");
});

test("the last event may lack its blank line", async () => {
  expect(textOf(await ask(answered(reply(...message("Hi")).trimEnd())))).toBe("Hi");
});

test("an event that comes twice counts once, and equal pieces count twice", async () => {
  const numbered = (delta: string, sequence_number?: number): object => ({
    ...textDelta(delta, "msg_1", 0),
    sequence_number,
  });
  const opening = added({ type: "message", id: "msg_1" }, 0);
  const got = await said(opening, numbered("a", 4), numbered("a", 4), numbered("a", 5), numbered("b"), numbered("b"));
  expect(textOf(got)).toBe("aabb");
  const useless = await said(opening, numbered("a", 0), numbered("a", 0), numbered("b", 7), numbered("c", 7));
  expect(textOf(useless)).toBe("aabc");
});

test.each<[string, (deep: string) => string]>([
  ["as text", (deep) => JSON.stringify(`{"x":${deep}}`)],
  ["as an object", (deep) => `{"x":${deep}}`],
  ["beside a name that looks like an attack", (deep) => JSON.stringify(`{"__proto__":{"y":1},"x":${deep}}`)],
])("arguments nested however deeply, %s, are committed and go back", async (_, written) => {
  for (const depth of [6000, 100_000]) {
    const deep = "[".repeat(depth) + "]".repeat(depth);
    const item = `{"type":"function_call","id":"fc_1","call_id":"c","name":"t","arguments":${written(deep)}}`;
    const llm = answered(`data: {"type":"response.output_item.done","item":${item}}\n\n${sse(completed())}`);
    const got = await ask(llm);
    expect(got.outcome.status).toBe("completed");
    expect((await ask(llm, userText("and?"))).outcome.status).toBe("completed");
    expect(["{}", callsOf(got)[0]?.arguments]).toContain(JSON.parse(llm.asked[1] ?? "").input[1].arguments);
  }
});

test("whatever a server sends, the request ends in an outcome (PC-027)", async () => {
  const junk = fc.oneof(fc.json({ maxDepth: 2 }), fc.string(), fc.constantFrom("{", "null", "[DONE]"));
  const item = fc.record(
    {
      type: fc.constantFrom("message", "reasoning", "function_call", "custom_tool_call", 7),
      id: fc.constantFrom("a", "b", "", null, 7),
      call_id: fc.constantFrom("c", "d", "", null, {}),
      name: fc.constantFrom("t", "", null, "parallel", "__proto__"),
      arguments: fc.constantFrom("", "{}", '{"tool_uses":[]}', null, {}, 7),
      content: fc.constantFrom("x", [], [null], [{ text: "x" }], [{ refusal: "y" }], 7),
      summary: fc.constantFrom([], [{ text: "x" }, { text: "y" }], null),
      encrypted_content: fc.constantFrom("e", null, 7),
      phase: fc.constantFrom("commentary", "other", null),
    },
    { requiredKeys: [] },
  );
  const event = fc.record(
    {
      type: fc.constantFrom(
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.refusal.delta",
        "response.reasoning_summary_text.delta",
        "response.reasoning_text.delta",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_part.done",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.created",
        "toString",
      ),
      item,
      item_id: fc.constantFrom("a", "b", null),
      output_index: fc.constantFrom(0, 1, null, "x"),
      summary_index: fc.constantFrom(0, 1, 5, null),
      delta: fc.constantFrom("x", "", null, {}),
      arguments: fc.constantFrom("{}", null, {}),
    },
    { requiredKeys: ["type"] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 12 }), fc.option(junk), async (events, end) => {
      const llm = answered(end === null ? reply(...events) : sse(...events, end));
      const got = await ask(llm);
      expect(got.outcome.status).toBe(end === null ? "completed" : got.outcome.status);
      expect((await ask(llm, userText("and?"))).outcome.status).toBe(got.outcome.status);
    }),
    { numRuns: 100 },
  );
});
