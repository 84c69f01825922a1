import { expect, test } from "vitest";
import { inPieces, modelOver, raw } from "../../../../test/support/adapter-kit.ts";
import { answers, ask, callsOf, textOf } from "../../../../test/support/ask.ts";
import { type CollectedReply, collectReply } from "../../../../test/support/collect-reply.ts";
import {
  block,
  end,
  numbered,
  reply,
  START,
  sse,
  start,
  text,
  thought,
} from "../../../../test/support/messages-service.ts";
import { modelMessage, userText } from "../../../omnimessage/build.ts";

const model = modelOver("anthropic-messages");

const NO_ARGUMENTS = reply(
  block({ type: "tool_use", id: "toolu_1", name: "list_tabs", input: {} }),
  block(
    { type: "tool_use", id: "toolu_2", name: "get_time", input: {} },
    { type: "input_json_delta", partial_json: "" },
  ),
);

test("a call without argument bytes has the arguments {} and goes back so", async () => {
  const server = await raw({ body: NO_ARGUMENTS }, { body: reply(text("ok")) });
  const llm = model(server);
  const got = await ask(llm);
  expect(got.outcome.finishReason).toBe("tool_calls");
  expect(callsOf(got).map(({ tool_call_id, name, arguments: args }) => [tool_call_id, name, args])).toEqual([
    ["toolu_1", "list_tabs", "{}"],
    ["toolu_2", "get_time", "{}"],
  ]);
  await ask(llm, ...answers(got));
  expect(server.bodies[1].messages[1].content.map(({ input }: { input: unknown }) => input)).toEqual([{}, {}]);
});

const PIECES = [
  '{"file_path":"a/\\u',
  "00e",
  '9.txt","content":"line1\\',
  'nq\\"\\\\ ',
  "\\ud83d",
  "\\ud",
  'e42 日本🙂\\t"}',
];
const WHOLE = reply(
  thought(["Né\n"], "Eq+/", "=="),
  text("日本", " 🙂 é"),
  block(
    { type: "tool_use", id: "toolu_9", name: "write_file", input: {} },
    ...PIECES.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  ),
  block(
    { type: "tool_use", id: "toolu_8", name: "ls", input: {} },
    { type: "input_json_delta", partial_json: '{"p":"…"}' },
  ),
);

test("a reply is the same wherever its bytes are cut, and never holds half a character (PC-040)", async () => {
  const bytes = Buffer.from(WHOLE);
  const whole = await given([bytes]);
  expect(whole.outcome).toEqual({ status: "completed", finishReason: "tool_calls" });
  expect(whole.complete).toMatchObject([
    { thinking: "Né\n", fidelity: { anthropic: { signature: "Eq+/==" } } },
    { text: "日本 🙂 é" },
    { name: "write_file", tool_call_id: "toolu_9", arguments: PIECES.join("") },
    { name: "ls", tool_call_id: "toolu_8", arguments: '{"p":"…"}' },
  ]);
  for (let at = 1; at < bytes.length; at += 97) {
    expect((await given([bytes.subarray(0, at), bytes.subarray(at)])).complete).toEqual(whole.complete);
  }
  for (const size of [1, 2, 3, 5, 7, 1000]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    );
    const got = await given(chunks);
    expect(got.complete).toEqual(whole.complete);
    expect(JSON.stringify(got.messages)).not.toContain("\ufffd");
  }
});

/** The reply to one request of these chunks. */
function given(chunks: readonly Uint8Array[]): Promise<CollectedReply> {
  return ask(model({ url: "http://127.0.0.1:9" }, { fetch: inPieces(chunks) }));
}

test("thinking and its signature go back byte for byte, with redacted thinking in its place (PC-041, PC-042)", async () => {
  const body = reply(
    thought(["Need the\n", " file… "], "EqQBCkYIBR", "gC+/=="),
    block({ type: "redacted_thinking", data: "opaque+/==" }),
    block(
      { type: "tool_use", id: "toolu_3", name: "read_file", input: {} },
      { type: "input_json_delta", partial_json: '{"file_path":"x"}' },
    ),
  );
  const server = await raw({ body }, { body: reply(text("ok")) });
  const llm = model(server);
  const got = await ask(llm);
  await ask(llm, ...answers(got));
  const sent = [
    { type: "thinking", thinking: "Need the\n file… ", signature: "EqQBCkYIBRgC+/==" },
    { type: "redacted_thinking", data: "opaque+/==" },
    { type: "tool_use", id: "toolu_3", name: "read_file", input: { file_path: "x" } },
  ];
  expect(server.bodies[1].messages[1].content).toEqual(sent);
  const resumed = model(server);
  resumed.setHistory(
    JSON.parse(JSON.stringify([userText("go"), ...got.complete.map((payload) => modelMessage(payload))])),
  );
  await ask(resumed, ...answers(got));
  expect(server.bodies[2].messages[1].content).toEqual(sent);
});

test.each([[], [{ type: "signature_delta", signature: "" }]])(
  "thinking without a signature is shown and not sent back (%#)",
  async (...signature) => {
    const body = reply(
      block({ type: "thinking", thinking: "" }, { type: "thinking_delta", thinking: "hm" }, ...signature),
      text("Hi"),
    );
    const server = await raw({ body });
    const llm = model(server, { modelId: "glm-5" });
    expect((await ask(llm)).complete).toMatchObject([{ thinking: "hm" }, { text: "Hi" }]);
    await ask(llm);
    expect(server.bodies[1].messages[1].content).toEqual([{ type: "text", text: "Hi" }]);
  },
);

test("arguments that are no JSON object, or too deep, come as they are and go back as {}", async () => {
  const texts = ['{"a": }', "null", '["ls"]', `{"x":${"[".repeat(6000)}${"]".repeat(6000)}}`, '{"n":1}'];
  const calls = texts.map((partial_json, i) =>
    block({ type: "tool_use", id: `c${i}`, name: "t", input: {} }, { type: "input_json_delta", partial_json }),
  );
  const server = await raw({ body: reply(...calls) }, { body: reply(text("ok")) });
  const llm = model(server);
  const got = await ask(llm);
  expect(callsOf(got).map((call) => [call.arguments, call.stop_reason])).toEqual(
    texts.map((text) => [text, "completed"]),
  );
  expect((await ask(llm, ...answers(got))).outcome.status).toBe("completed");
  const sent = server.bodies[1].messages[1].content.map(({ input }: { input: unknown }) => input);
  expect(sent).toEqual([{}, {}, {}, {}, { n: 1 }]);
});

test("the output limit inside a call marks the last call, and it goes back with {}", async () => {
  const calls = [
    block({ type: "tool_use", id: "c6", name: "t", input: {} }),
    block(
      { type: "tool_use", id: "c7", name: "t", input: {} },
      { type: "input_json_delta", partial_json: '{"a":"exp' },
    ),
  ];
  const server = await raw({ body: sse(START, ...numbered(calls), ...end("max_tokens")) }, { body: reply(text("ok")) });
  const llm = model(server);
  const got = await ask(llm);
  expect(got.outcome).toEqual({ status: "completed", finishReason: "length" });
  expect(callsOf(got)).toMatchObject([
    { stop_reason: "completed" },
    { arguments: '{"a":"exp', stop_reason: "malformed" },
  ]);
  await ask(llm, ...answers(got));
  expect(server.bodies[1].messages[1].content[1]).toEqual({ type: "tool_use", id: "c7", name: "t", input: {} });
});

test.each([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["pause_turn", "stop"],
  ["refusal", "content_filter"],
  ["model_context_window_exceeded", "length"],
  ["length", "length"],
  ["MAX_TOKENS", "length"],
  ["max_output_tokens", "length"],
  ["context_length_exceeded", "length"],
  ["something_new", "other"],
])("the stop reason %s is told as %s", async (wire, told) => {
  const server = await raw({ body: sse(START, ...numbered([text("x")]), ...end(wire)) });
  expect((await ask(model(server))).outcome).toEqual({ status: "completed", finishReason: told });
});

test("usage counts what was read from the cache, and what was written to it and not cached together (PC-013)", async () => {
  const usage = { input_tokens: 10, cache_read_input_tokens: 256, cache_creation_input_tokens: 42, output_tokens: 1 };
  const body = sse(start(usage), ...numbered([text("x")]), ...end("end_turn", { output_tokens: 7 }));
  const got = await ask(model(await raw({ body })));
  expect(got.usage?.request).toEqual({ cache_read: 256, cache_write: 52, output: 7, total: 315 });
});

test("heartbeats, comments and events of other kinds are no part of a reply, wherever they stand", async () => {
  const beats = `: OK\n\nevent: ping\ndata: {"type": "ping"}\n\nevent: hint\ndata: {"type":"hint"}\n\nevent: tick\ndata: tock\n\ndata: [DONE]\n\n`;
  const events = sse(START, ...numbered([text("Hi")]), ...end("end_turn")).split(/(?<=\n\n)/);
  const got = await ask(model(await raw({ body: beats + events.join(beats) })));
  expect([got.outcome.status, textOf(got)]).toEqual(["completed", "Hi"]);
});

const HALF = sse(
  START,
  ...numbered([text("I will now delete")]),
  {
    type: "content_block_start",
    index: 1,
    content_block: { type: "tool_use", id: "toolu_5", name: "exec", input: {} },
  },
  { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"cmd":"rm -r build' } },
);

test("a clean end without the end marker is no reply, and neither is a half event (PC-022)", async () => {
  for (const body of [HALF, `${HALF}event: message_stop\ndata: {"type":"mess`, "", sse(START)]) {
    const got = await ask(model(await raw({ body })));
    expect(got.outcome).toEqual({ status: "malformed", message: "the reply ended without its end marker" });
    expect(callsOf(got).every((call) => call.stop_reason === "malformed")).toBe(true);
  }
});

test("behind its reason to stop a reply is whole, however the connection ends", async () => {
  const body = sse(START, ...numbered([text("Hi")]), end("end_turn")[0] ?? {});
  const stop = sse({ type: "message_stop" });
  const server = await raw(
    { body },
    { body: `${body}${stop.trimEnd()}` },
    (response) => void response.write(body, () => response.destroy()),
    (response) => void response.write(body + stop),
  );
  for (const _ of [1, 2, 3, 4]) {
    const got = await ask(model(server));
    expect([got.outcome, textOf(got)]).toEqual([{ status: "completed", finishReason: "stop" }, "Hi"]);
  }
});

test.each([
  ["an error", 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"late"}}\n\n'],
  ["half an event", 'event: message_stop\ndata: {"ty\n\n'],
  ["another protocol", 'data: {"choices":[]}\n\n'],
])("behind its reason to stop a reply is whole, though %s follows", async (_, late) => {
  const body = sse(START, ...numbered([text("Hi")]), end("end_turn")[0] ?? {}) + late;
  const llm = model(await raw({ body }, { body: reply(text("ok")) }));
  const got = await ask(llm);
  expect([got.outcome, textOf(got)]).toEqual([{ status: "completed", finishReason: "stop" }, "Hi"]);
});

test("a signature that comes when the next blocks have begun goes back with its thinking (PC-041)", async () => {
  const opened = (index: number, content_block: object): object => ({
    type: "content_block_start",
    index,
    content_block,
  });
  const piece = (index: number, delta: object): object => ({ type: "content_block_delta", index, delta });
  const stopped = (index: number): object => ({ type: "content_block_stop", index });
  const body = sse(
    START,
    opened(0, { type: "thinking", thinking: "" }),
    opened(1, { type: "text", text: "" }),
    opened(2, { type: "tool_use", id: "toolu_1", name: "look", input: {} }),
    piece(0, { type: "thinking_delta", thinking: "hm" }),
    piece(2, { type: "input_json_delta", partial_json: "{}" }),
    piece(1, { type: "text_delta", text: "Hi" }),
    piece(0, { type: "signature_delta", signature: "S0" }),
    stopped(0),
    piece(1, { type: "text_delta", text: " there" }),
    stopped(1),
    stopped(2),
    ...end("tool_use"),
  );
  const server = await raw({ body }, { body: reply(text("ok")) });
  const llm = model(server);
  await ask(llm, ...answers(await ask(llm)));
  expect(server.bodies[1].messages[1].content).toEqual([
    { type: "thinking", thinking: "hm", signature: "S0" },
    { type: "text", text: "Hi there" },
    { type: "tool_use", id: "toolu_1", name: "look", input: {} },
  ]);
});

test("what waited for a signature is not lost when the reply breaks off", async () => {
  const body = sse(
    START,
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "hm" } },
    ...numbered([text("no"), text("Hi")]).slice(3),
  );
  const got = await ask(model(await raw({ body })));
  expect([got.outcome.status, textOf(got)]).toEqual(["malformed", "Hi"]);
});

test("a whole message in place of a stream is a reply that came at once, and goes back (PC-041)", async () => {
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    content: [
      { type: "thinking", thinking: "hm", signature: "S" },
      { type: "text", text: "é\n\n" },
      { type: "tool_use", id: "toolu_1", name: "look", input: { at: "q" } },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 3, output_tokens: 4 },
  };
  const headers = { "content-type": "application/json" };
  for (const written of [JSON.stringify(message), JSON.stringify(message, null, 2).replaceAll("\n", "\n\n")]) {
    const server = await raw({ body: written, headers, bytesPerWrite: 40 }, { body: reply(text("ok")) });
    const llm = model(server);
    const got = await ask(llm);
    expect(got.outcome).toEqual({ status: "completed", finishReason: "tool_calls" });
    expect(got.usage?.request).toMatchObject({ output: 4, total: 7 });
    await ask(llm, ...answers(got));
    expect(server.bodies[1].messages[1].content).toEqual(message.content);
  }
});

test.each([
  [
    "<!doctype html>\n\n<html><head><title>Open\nWebUI</title></head>",
    "the server answered with a web page (Open WebUI); check the base URL",
  ],
  [
    '{"detail":\n "Not Found"}',
    'the server answered with JSON that is no reply ({"detail": "Not Found"}); check the base URL',
  ],
  ["[]", "the server answered with JSON that is no reply ([]); check the base URL"],
  [
    'data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"x"}}]}\n\ndata: [DONE]\n\n',
    "the server answered with Chat Completions; set the client type of this model to openai-chat",
  ],
  [
    'event: response.created\ndata: {"type":"response.created","response":{}}\n\n',
    "the server answered with Responses; set the client type of this model to openai-responses",
  ],
  [
    '{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}',
    "the server answered with the Gemini API; set the client type of this model to google",
  ],
])("the answer %j is no reply, finally, and what to do is said", async (body, words) => {
  for (const bytesPerWrite of [1, body.length]) {
    expect((await ask(model(await raw({ body, bytesPerWrite })))).outcome).toEqual({
      status: "failed",
      permanent: true,
      message: `the provider reported an error (unsupported_protocol): ${words}`,
    });
  }
});

test.each([
  [{ type: "overloaded_error", message: "Overloaded" }, { status: "timeout" }],
  [{ type: "rate_limit_error", message: "Slow" }, { status: "timeout" }],
  [{ type: "api_error", message: "Internal" }, { status: "timeout" }],
  [{ type: "authentication_error", message: "invalid x-api-key" }, { status: "auth" }],
  [
    { type: "invalid_request_error", message: "Output blocked by content filtering policy" },
    { status: "failed", permanent: true },
  ],
  [
    { type: "invalid_request_error", message: "prompt is too long: 9 tokens > 8 maximum" },
    { status: "failed", overflow: true },
  ],
])(
  "the error event %j keeps its type, first in the stream or later, and its segments close (PC-021, PC-023)",
  async (error, outcome) => {
    const event = `event: error\ndata: ${JSON.stringify({ type: "error", error, request_id: "req_1" })}\n\n`;
    const message = `the provider reported an error (${error.type}): ${error.message}`;
    const server = await raw({ body: event }, { body: sse(START) + event }, { body: HALF + event });
    for (const _ of [1, 2, 3]) expect((await ask(model(server))).outcome).toEqual({ ...outcome, message });
    expect(server.bodies).toHaveLength(3);
  },
);

test("what a failed attempt has said is no part of the history (PC-038)", async () => {
  const error = 'data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
  const server = await raw({ body: HALF + error }, { body: reply(text("Whole.")) });
  const llm = model(server);
  for (const status of ["timeout", "completed", "completed"]) expect((await ask(llm)).outcome.status).toBe(status);
  expect(server.bodies[1].messages).toEqual(server.bodies[0].messages);
  expect(server.bodies[2].messages.slice(1, -1)).toEqual([
    { role: "assistant", content: [{ type: "text", text: "Whole." }] },
  ]);
});

test("an event that is not JSON is a broken reply, first in the stream or later (PC-022)", async () => {
  const server = await raw({ body: "data: {oops\n\n" }, { body: `${HALF}data: {oops\n\n` });
  for (const _ of [1, 2]) {
    expect((await ask(model(server))).outcome).toEqual({
      status: "malformed",
      message: "an event of the reply is not JSON: {oops",
    });
  }
});

test("whatever stands in the place of a field, a request ends and its segments close (PC-027)", async () => {
  const events = [
    START,
    ...numbered([
      block({ type: "thinking", thinking: "" }, { type: "signature_delta", signature: "s" }),
      text("Hi"),
      block({ type: "tool_use", id: "c", name: "t", input: {} }, { type: "input_json_delta", partial_json: "{}" }),
    ]),
    ...end("tool_use"),
  ];
  for (const [i, event] of events.entries()) {
    for (const [, field] of JSON.stringify(event).matchAll(/"(\w+)":/g)) {
      for (const value of [null, { a: [7] }]) {
        const spoilt = JSON.parse(JSON.stringify(event), (key, was) => (key === field ? value : was));
        const body = sse(...events.with(i, spoilt));
        const { outcome } = await given([Buffer.from(body)]);
        expect(outcome.status).toBe("completed");
      }
    }
  }
});

test("a body that is an error in place of a stream is that error", async () => {
  const server = await raw({
    body: '{"type":"error","error":{"type":"api_error","message":"no"}}',
    headers: { "content-type": "application/json" },
  });
  expect((await ask(model(server))).outcome).toEqual({
    status: "timeout",
    message: "the provider reported an error (api_error): no",
  });
});

test("a connection that is reset is transient (PC-021)", async () => {
  const server = await raw(
    (response) => void response.destroy(),
    (response) => void response.write(HALF, () => response.destroy()),
  );
  for (const _ of [1, 2]) {
    const { outcome } = await ask(model(server));
    expect(outcome).toMatchObject({ status: "timeout", message: expect.stringContaining("connection") });
  }
});

test("silence ends a request, and an abort does against a server that ignores it (PC-010, PC-021, PC-024)", async () => {
  const server = await raw((response) => void response.write(HALF));
  const quiet = await ask(model(server, { requestTimeoutMs: 50 }));
  expect(quiet.outcome).toEqual({ status: "timeout", message: "the provider sent nothing for 50 ms" });
  expect(callsOf(quiet)).toMatchObject([{ stop_reason: "timeout" }]);
  const leaving = new AbortController();
  const left = await collectReply(
    model(server),
    { newMessages: [userText("go")], signal: leaving.signal },
    ({ payload }) => {
      if (payload.type === "partial_tool_call") leaving.abort();
    },
  );
  expect(left.outcome).toEqual({ status: "aborted" });
});

// Answers that are no stream.

test.each([
  [
    400,
    "invalid_request_error",
    "messages: text content blocks must be non-empty",
    { status: "failed", permanent: true },
  ],
  [401, "authentication_error", "invalid x-api-key", { status: "auth" }],
  [403, "permission_error", "no permission", { status: "failed", permanent: true }],
  [404, "not_found_error", "model: claude-none", { status: "failed", permanent: true }],
  [413, "request_too_large", "Request exceeds the maximum size", { status: "failed", permanent: true }],
  [429, "rate_limit_error", "This request would exceed the rate limit of 8000 input tokens", { status: "timeout" }],
  [500, "api_error", "Internal server error", { status: "timeout" }],
  [529, "overloaded_error", "Overloaded", { status: "timeout" }],
  [400, "invalid_request_error", "Your credit balance is too low", { status: "failed", permanent: true }],
  [
    400,
    "invalid_request_error",
    "prompt is too long: 9000 tokens > 8192 maximum",
    { status: "failed", overflow: true },
  ],
  [
    400,
    "invalid_request_error",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
    { status: "failed", overflow: true },
  ],
  [
    400,
    "invalid_request_error",
    "This model's maximum context length is 131072 tokens",
    { status: "failed", overflow: true },
  ],
])("HTTP %i %s %s is told as it is (PC-017, PC-021, PC-023, PC-025)", async (status, type, message, outcome) => {
  const server = await raw({ status, body: JSON.stringify({ type: "error", error: { type, message } }) });
  const got = await ask(model(server));
  expect(got.outcome).toEqual({ ...outcome, message: `the provider answered HTTP ${status} (${type}): ${message}` });
  expect(server.bodies).toHaveLength(1);
});

test("a rate limit says how long to wait, in seconds or by a date", async () => {
  const body = JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "slow" } });
  const date = new Date(Date.now() + 60_000).toUTCString();
  const server = await raw(
    { status: 429, headers: { "retry-after": "3" }, body },
    { status: 529, headers: { "retry-after": date }, body },
  );
  expect((await ask(model(server))).outcome.retryAfterMs).toBe(3000);
  const { retryAfterMs = 0 } = (await ask(model(server))).outcome;
  expect(retryAfterMs > 0 && retryAfterMs <= 60_000).toBe(true);
});

test("no outcome holds the key, and the package prints nothing", async () => {
  const printed: unknown[] = [];
  const { warn, log, error } = console;
  Object.assign(console, { warn: (...a: unknown[]) => printed.push(a), log: (...a: unknown[]) => printed.push(a) });
  try {
    const server = await raw(
      { status: 400, body: '{"error":{"message":"bad key sk-ant-canary-1111"}}' },
      { body: reply(text("ok")) },
    );
    expect((await ask(model(server))).outcome.message).toBe("the provider answered HTTP 400: bad key [redacted]");
    await ask(model(server, { modelId: "claude-unheard-of", thinkingLevel: "none" }));
  } finally {
    Object.assign(console, { warn, log, error });
  }
  expect(printed).toEqual([]);
});
