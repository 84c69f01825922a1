import { expect, test } from "vitest";
import { modelOver, noComplaints, PIXEL, raw, readFile, reads, strict } from "../../../test/support/adapter-kit.ts";
import { answers, ask, callsOf, textOf, thinkingOf } from "../../../test/support/ask.ts";
import { chunk, reply, sse, toolCall } from "../../../test/support/chat-wire.ts";
import { readBoth, readingTurns } from "../../../test/support/conversation.ts";
import { modelMessage, userImage, userText } from "../../omnimessage/build.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import type { GenerativeModelConfig } from "../contract.ts";

const model = modelOver("openai-chat");

// Whole conversations with the strict server.

test("thinking, text and parallel calls come as segments, and go back unchanged (PC-004, PC-038, PC-040, PC-051, PC-106)", async () => {
  const server = await strict(readingTurns());
  const first = await readBoth(model(server, { tools: [readFile], systemPrompt: "Be brief." }));
  expect(thinkingOf(first)).toEqual(["I should look at both."]);
  const { messages, tools, tool_choice } = server.log[2]?.body ?? {};
  expect(tools).toHaveLength(1);
  expect(tool_choice).toBeUndefined();
  const [one, two] = callsOf(first).map((call) => call.tool_call_id);
  expect(messages).toMatchObject([
    { role: "system", content: "Be brief." },
    { role: "user", content: "go" },
    {
      role: "assistant",
      content: "Reading.",
      reasoning_content: "I should look at both.",
      tool_calls: [
        { id: one, function: { arguments: '{"path":"a"}' } },
        { id: two, function: { arguments: '{"path":"é🙂"}' } },
      ],
    },
    { role: "tool", tool_call_id: one, content: "output of read_file" },
    { role: "tool", tool_call_id: two, content: "output of read_file" },
    { role: "assistant", content: "Both read." },
    { role: "user", content: "sure?" },
  ]);
  noComplaints(server);
});

test("images of a batch of outputs follow it, each call's under its id", async () => {
  const server = await strict([{ tools: reads("a", "b") }, "seen"]);
  const llm = model(server, { tools: [readFile] });
  const reply = await ask(llm, userText("compare"), userImage(PIXEL));
  const [first, second] = answers(reply, { images: [PIXEL] });
  if (!first || !second) throw new Error("two calls were scripted");
  expect((await ask(llm, first, second, userText("well?"))).outcome.status).toBe("completed");
  const [one, two] = callsOf(reply).map((call) => call.tool_call_id);
  expect(server.log[1]?.body.messages.slice(2)).toEqual([
    { role: "tool", tool_call_id: one, content: "output of read_file" },
    { role: "tool", tool_call_id: two, content: "output of read_file" },
    {
      role: "user",
      content: [
        { type: "text", text: `Images in the output of tool call ${one}:` },
        { type: "image_url", image_url: { url: PIXEL } },
        { type: "text", text: `Images in the output of tool call ${two}:` },
        { type: "image_url", image_url: { url: PIXEL } },
      ],
    },
    { role: "user", content: "well?" },
  ]);
  expect(server.log[0]?.body.messages[0].content).toHaveLength(2);
  noComplaints(server);
});

test("odd names, long ids and lone surrogates of a history are made acceptable", async () => {
  const server = await strict(["ok"]);
  const llm = model(server, { tools: [{ name: "bare", description: "No schema \ud83d.", parameters: {} }] });
  const id = "chatcmpl-tool-0123456789abcdef0123456789abcdef";
  const empty = {
    type: "tool_call",
    role: "assistant",
    name: "",
    arguments: '{"a":"\ud83d"}',
    tool_call_id: id,
  } as const;
  llm.setHistory([
    userText("x\udc00y"),
    modelMessage(empty),
    modelMessage({ ...empty, name: "my tool.v2", tool_call_id: "b" }),
  ]);
  const output = (of: string): OmniMessage =>
    modelMessage({ type: "tool_call_output", role: "user", output: "\ud83d", tool_call_id: of });
  expect((await ask(llm, output(id), output("b"))).outcome.status).toBe("completed");
  const { messages, tools } = server.log[0]?.body ?? {};
  expect(messages[0].content).toBe("x\ufffdy");
  expect(messages[1].tool_calls).toMatchObject([
    { function: { name: expect.stringMatching(/^_\w{8}$/), arguments: '{"a":"\ufffd"}' } },
    { function: { name: expect.stringMatching(/^my_tool_v2_\w{8}$/) } },
  ]);
  expect(messages[2].tool_call_id).toBe(messages[1].tool_calls[0].id);
  expect(tools[0].function.parameters).toEqual({ type: "object", properties: {} });
  noComplaints(server);
});

// What is asked of which model.

test.each<[modelId: string, level: GenerativeModelConfig["thinkingLevel"], sent: Record<string, unknown>]>([
  ["deepseek-chat", "high", { max_tokens: 900, reasoning_effort: "high" }],
  ["deepseek-chat", "none", { max_tokens: 900 }],
  ["deepseek-chat", "xhigh", { max_tokens: 900, reasoning_effort: "high" }],
  ["gpt-4o", "high", { max_tokens: 900 }],
  ["gpt-4.1", "none", { max_tokens: 900 }],
  ["gpt-5", "none", { max_completion_tokens: 900, reasoning_effort: "minimal" }],
  ["gpt-5-mini", "none", { max_completion_tokens: 900, reasoning_effort: "minimal" }],
  ["gpt-5.2", "none", { max_completion_tokens: 900, reasoning_effort: "none" }],
  ["gpt-5.3-codex", "none", { max_completion_tokens: 900, reasoning_effort: "low" }],
  ["o3", "none", { max_completion_tokens: 900, reasoning_effort: "low" }],
  ["gpt-5", "low", { max_completion_tokens: 900, reasoning_effort: "low" }],
  ["gpt-5.1", "xhigh", { max_completion_tokens: 900, reasoning_effort: "high" }],
  ["gpt-5.2", "xhigh", { max_completion_tokens: 900, reasoning_effort: "xhigh" }],
  ["gpt-5-chat-latest", "high", { max_tokens: 900 }],
  ["o3-mini", "medium", { max_completion_tokens: 900, reasoning_effort: "medium" }],
  ["o4-mini", undefined, { max_completion_tokens: 900 }],
])("%s at level %s is sent %j (PC-033, PC-034, PC-035)", async (modelId, thinkingLevel, sent) => {
  const server = await strict(["ok"]);
  const llm = model(server, { modelId, maxTokens: 900, ...(thinkingLevel && { thinkingLevel }) });
  const thought = modelMessage({ type: "thinking", role: "assistant", thinking: "hm" } as const);
  llm.setHistory([userText("before"), thought, modelMessage({ type: "text", role: "assistant", text: "yes" })]);
  expect((await ask(llm)).outcome.status).toBe("completed");
  const { model: id, messages, stream, stream_options, ...rest } = server.log[0]?.body ?? {};
  expect({ id, stream, stream_options }).toEqual({
    id: modelId,
    stream: true,
    stream_options: { include_usage: true },
  });
  expect(rest).toEqual(sent);
  expect(messages[1].reasoning_content).toBe(modelId.startsWith("deepseek") ? "hm" : undefined);
  noComplaints(server);
});

test("Mistral's service, which refuses stream_options, is sent none, and its counts are read (PC-013)", async () => {
  const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };
  const server = await raw({ body: sse(chunk({ content: "Hi" }), chunk({}, "stop", { usage }), "[DONE]") });
  const addresses: unknown[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    addresses.push(input);
    return globalThis.fetch(server.url, init);
  };
  const got = await ask(
    model(server, { modelId: "mistral-large-latest", baseUrl: "https://api.mistral.ai/v1", fetch }),
  );
  expect(addresses).toEqual(["https://api.mistral.ai/v1/chat/completions"]);
  expect(server.bodies[0]).not.toHaveProperty("stream_options");
  expect(got.usage?.request.total).toBe(9);
});

test("the output limit is lowered to what the window leaves (PC-033)", async () => {
  const server = await strict([{ text: "a", usage: { input: 5000, output: 0 } }, "b"]);
  const llm = model(server, { maxTokens: 8000, contextWindow: 10_000 });
  await ask(llm);
  await ask(llm, userText("abcd"));
  expect(server.log.map(({ body }) => body.max_tokens)).toEqual([8000, 3975]);
});

test("a port that the program's fetch connects to for nobody is a final failure", async () => {
  const { outcome } = await ask(model({ url: "" }, { baseUrl: "http://127.0.0.1:6000/v1", fetch }));
  expect(outcome).toMatchObject({ status: "failed", permanent: true, message: expect.stringContaining("bad port") });
});

// Odd servers.

test("pieces of two calls that arrive mixed find their calls", async () => {
  const pieces = [
    { index: 0, id: "c0", type: "function", function: { name: "grep", arguments: "" } },
    { index: 1, id: "c1", type: "function", function: { name: "read_file", arguments: "" } },
    { index: 0, function: { arguments: '{"pat' } },
    { index: 1, function: { arguments: '{"file_' } },
    { index: 0, function: { arguments: 'tern":"x' } },
    { index: 1, function: { arguments: 'path":"y"}' } },
    { index: 0, function: { arguments: '"}' } },
  ];
  const server = await raw({ body: reply({ content: "Reading" }, ...pieces.map(toolCall)) });
  const got = await ask(model(server));
  expect(textOf(got)).toBe("Reading");
  expect(callsOf(got)).toMatchObject([
    { tool_call_id: "c0", name: "grep", arguments: '{"pattern":"x"}' },
    { tool_call_id: "c1", name: "read_file", arguments: '{"file_path":"y"}' },
  ]);
  expect(got.outcome.finishReason).toBe("tool_calls");
});

test("two calls at index 0 with different ids stay two calls, wherever the stream is cut", async () => {
  const pieces = [
    { index: 0, id: "call_a", type: "function", function: { name: "read_file", arguments: '{"file_path":"a' } },
    { index: 0, function: { arguments: '.txt"}' } },
    { index: 0, id: "call_b", type: "function", function: { name: "read_file", arguments: '{"file_path":' } },
    { index: 0, function: { arguments: '"b.txt"}' } },
  ];
  const body = reply(...pieces.map(toolCall));
  const server = await raw({ body }, { body, bytesPerWrite: 7 });
  for (const _ of [1, 2]) {
    expect(callsOf(await ask(model(server)))).toMatchObject([
      { tool_call_id: "call_a", name: "read_file", arguments: '{"file_path":"a.txt"}' },
      { tool_call_id: "call_b", name: "read_file", arguments: '{"file_path":"b.txt"}' },
    ]);
  }
});

test("a provider that names calls by their function gets its own ids back (PC-048, PC-049, PC-050)", async () => {
  const body = reply(toolCall({ index: 0, id: "read", function: { name: "read", arguments: "{}" } }));
  const server = await raw({ body });
  const llm = model(server);
  const first = await ask(llm);
  const second = await ask(llm, ...answers(first));
  await ask(llm, ...answers(second));
  expect([...callsOf(first), ...callsOf(second)].map((call) => call.tool_call_id)).toEqual(["read", "read#2"]);
  const sent = server.bodies[2].messages.flatMap((message: { tool_calls?: object[] }) => message.tool_calls ?? []);
  expect(sent.map(({ id }: { id: string }) => id)).toEqual(["read", "read"]);
});

test("a call without a name reaches the engine, which has to answer it", async () => {
  const server = await strict([{ tools: [{ name: "", args: {} }, ...reads("a")] }, "ok"]);
  const llm = model(server);
  const got = await ask(llm);
  expect(callsOf(got)).toMatchObject([{ name: "" }, { name: "read_file" }]);
  expect((await ask(llm, ...answers(got))).outcome.status).toBe("completed");
  expect(server.violations).toEqual([]);
});

test("events without choices, and usage wherever it stands, are no hindrance (PC-013)", async () => {
  const filter = { id: "", choices: [], prompt_filter_results: [{ prompt_index: 0 }] };
  const usage = {
    choices: [],
    usage: {
      prompt_tokens: 308,
      completion_tokens: 2,
      total_tokens: 310,
      prompt_tokens_details: { cached_tokens: 256 },
    },
  };
  const body = sse(
    filter,
    { type: "ping" },
    null,
    chunk({ content: "Hi" }, null, { usage: null }),
    chunk({}, "stop"),
    usage,
  );
  const got = await ask(model(await raw({ body })));
  expect(textOf(got)).toBe("Hi");
  expect(got.outcome).toEqual({ status: "completed", finishReason: "stop" });
  expect(got.usage?.request).toEqual({ cache_read: 256, cache_write: 52, output: 2, total: 310 });
});

test("line ends, comments, byte order mark, fields and data over two lines are read as the standard says", async () => {
  const [a, b, c] = ["A", "B", "C"].map((content) => JSON.stringify(chunk({ content })));
  const halves = `data: ${c?.slice(0, 1)}\r\ndata: ${c?.slice(1)}`;
  const body =
    `\ufeff: OPENROUTER PROCESSING\r\n\r\n:\r\nevent: message\r\nid: 7\r\nretry: 3000\r\ndata: ${a}\r\n\r\n: ping - 1\r\n\r\n` +
    `data:${b}\r\n\r\n${halves}\r\n\r\ndata: ${JSON.stringify(chunk({}, "stop"))}\r\n\r\ndata: [DONE]\r\n\r\n`;
  const server = await raw({ body }, { body, bytesPerWrite: 1 });
  expect(textOf(await ask(model(server)))).toBe("ABC");
  expect(textOf(await ask(model(server)))).toBe("ABC");
});

test("the end after a finish reason is an end, with or without [DONE] and usage; usage is zero then (PC-020)", async () => {
  const server = await raw({ body: sse(chunk({ content: "Hi" }), chunk({}, "stop")) });
  const got = await ask(model(server));
  expect(got.outcome).toEqual({ status: "completed", finishReason: "stop" });
  expect(got.usage?.request).toEqual({ cache_read: 0, cache_write: 0, output: 0, total: 0 });
});

test("a server that keeps the connection open behind [DONE] is not waited for", async () => {
  const server = await raw((response) => void response.write(reply({ content: "Hi" })));
  expect((await ask(model(server))).outcome.status).toBe("completed");
});

test("the output limit inside a call marks the last call, and it goes back with {}", async () => {
  const cut = {
    index: 1,
    id: "c7",
    type: "function",
    function: { name: "write_file", arguments: '{"file_path":"a.ts","content":"export' },
  };
  const whole = { index: 0, id: "c6", type: "function", function: { name: "read_file", arguments: "{}" } };
  const body = sse(chunk(toolCall(whole)), chunk(toolCall(cut)), chunk({}, "length"), "[DONE]");
  const server = await raw({ body }, { body: reply({ content: "ok" }) });
  const llm = model(server);
  const got = await ask(llm);
  expect(got.outcome).toEqual({ status: "completed", finishReason: "length" });
  expect(callsOf(got)).toMatchObject([
    { tool_call_id: "c6", stop_reason: "completed" },
    { tool_call_id: "c7", arguments: cut.function.arguments, stop_reason: "malformed" },
  ]);
  await ask(llm, ...answers(got));
  expect(server.bodies[1].messages[1].tool_calls.map((call: { function: unknown }) => call.function)).toEqual([
    { name: "read_file", arguments: "{}" },
    { name: "write_file", arguments: "{}" },
  ]);
});

test("the output limit in another word marks the last call too, in a stream and in one JSON body", async () => {
  const call = { index: 0, id: "c1", type: "function", function: { name: "read_file", arguments: "{}" } };
  const choices = [{ message: { role: "assistant", ...toolCall(call) }, finish_reason: "max_tokens" }];
  const server = await raw(
    { body: sse(chunk(toolCall(call)), chunk({}, "max_tokens"), "[DONE]") },
    { body: JSON.stringify({ object: "chat.completion", choices }) },
  );
  for (const _ of [1, 2]) {
    const got = await ask(model(server));
    expect(got.outcome).toEqual({ status: "completed", finishReason: "length" });
    expect(callsOf(got)).toMatchObject([{ tool_call_id: "c1", stop_reason: "malformed" }]);
  }
});

test.each([
  ["an error event", sse({ error: { message: "Late.", type: "server_error" } })],
  ["an error under another name", sse({ object: "error", message: "Late.", code: 400 })],
  ["an error by its event's name", 'event: error\ndata: {"message":"Late."}\n\n'],
  ["an event that is no JSON", 'data: {"choices":[{"del\n\n'],
  ["another end", sse(chunk({}, "error"))],
  ["half an event", 'data: {"error":{"message":"La'],
  ["an error without its blank line", 'data: {"error":{"message":"Late."}}'],
])("%s behind the end marker takes nothing from the reply (PC-020)", async (_, late) => {
  const usage = { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 } };
  const whole = sse(chunk({ content: "whole" }), chunk({}, "stop"));
  const server = await raw({ body: whole + late }, { body: `${whole}${late}\n\n${sse(usage, "[DONE]")}` });
  const got = [await ask(model(server)), await ask(model(server))];
  expect(got.map(textOf)).toEqual(["whole", "whole"]);
  expect(got.map(({ outcome }) => outcome)).toEqual(Array(2).fill({ status: "completed", finishReason: "stop" }));
});

test("a whole call that comes twice is one call, and two calls of one id with other arguments are two", async () => {
  const piece = (path: string): object =>
    toolCall({ index: 0, id: "a", type: "function", function: { name: "read_file", arguments: `{"path":"${path}"}` } });
  const got = await ask(model(await raw({ body: reply(piece("x"), piece("x"), piece("y")) })));
  expect(callsOf(got).map((call) => call.arguments)).toEqual(['{"path":"x"}', '{"path":"y"}']);
});

test.each([1, 1000])(
  "an empty finish reason behind the output limit is none (%i bytes at a time)",
  async (bytesPerWrite) => {
    const cut = { index: 0, id: "c1", type: "function", function: { name: "read_file", arguments: "{}" } };
    const body = sse(chunk(toolCall(cut)), chunk({}, "length"), chunk({ content: "" }, ""), "[DONE]");
    const got = await ask(model(await raw({ body, bytesPerWrite })));
    expect(got.outcome).toEqual({ status: "completed", finishReason: "length" });
    expect(callsOf(got)).toMatchObject([{ tool_call_id: "c1", stop_reason: "malformed" }]);
  },
);

test("arguments that are no JSON object come as they are and go back as {}", async () => {
  const texts = ['{"file_path": "a.txt", "content": }', "null", '["ls"]', '{"file_path":"ok.txt"}'];
  const pieces = texts.map((text, index) =>
    toolCall({ index, id: `c${index}`, function: { name: "t", arguments: text } }),
  );
  const server = await raw({ body: reply(...pieces) }, { body: reply({ content: "ok" }) });
  const llm = model(server);
  const got = await ask(llm);
  expect(callsOf(got).map((call) => [call.arguments, call.stop_reason])).toEqual(
    texts.map((text) => [text, "completed"]),
  );
  await ask(llm, ...answers(got));
  const sent = server.bodies[1].messages[1].tool_calls.map(
    (call: { function: { arguments: string } }) => call.function.arguments,
  );
  expect(sent).toEqual(["{}", "{}", "{}", texts[3]]);
  expect(server.bodies[1].messages.filter((message: { role: string }) => message.role === "tool")).toHaveLength(4);
});

test("a thought signature goes back on the call it came with (PC-041)", async () => {
  const extra_content = { google: { thought_signature: "sig" } };
  const server = await raw(
    { body: reply(toolCall({ index: 0, id: "a", function: { name: "t", arguments: "{}" }, extra_content })) },
    { body: reply({ content: "ok" }) },
  );
  const llm = model(server, { modelId: "custom" });
  const got = await ask(llm);
  expect(callsOf(got)[0]?.fidelity).toEqual({ openaiChat: { thoughtSignature: "sig" } });
  await ask(llm, ...answers(got));
  expect(server.bodies[1].messages[1].tool_calls[0].extra_content).toEqual(extra_content);
});

test.each([1, 2])("a thought signature on piece %i behind a call's first goes back on it (PC-041)", async (at) => {
  const extra_content = { google: { thought_signature: "sig" } };
  const pieces: object[] = [
    { index: 0, id: "a", function: { name: "t", arguments: "" } },
    { index: 0, function: { arguments: "{}" } },
    { index: 0 },
  ];
  pieces[at] = { ...pieces[at], extra_content };
  const other = toolCall({ index: 1, id: "b", function: { name: "t", arguments: "{}" } });
  const server = await raw({ body: reply(...pieces.map(toolCall), other) }, { body: reply({ content: "ok" }) });
  const llm = model(server, { modelId: "custom" });
  const got = await ask(llm);
  expect(callsOf(got).map(({ fidelity }) => fidelity)).toEqual([
    { openaiChat: { thoughtSignature: "sig" } },
    undefined,
  ]);
  await ask(llm, ...answers(got));
  expect(server.bodies[1].messages[1].tool_calls[0].extra_content).toEqual(extra_content);
});

test.each<[string, (deep: string) => string]>([
  ["as text", (deep) => JSON.stringify(`{"x":${deep}}`)],
  ["as an object", (deep) => `{"x":${deep}}`],
  ["beside a name that looks like an attack", (deep) => JSON.stringify(`{"__proto__":{"y":1},"x":${deep}}`)],
])("arguments nested however deeply, %s, are committed by the first request and go back", async (_, written) => {
  const call = (deep: string): string =>
    `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"t","arguments":${written(deep)}}}]}}]}\n\n`;
  for (const depth of [6000, 100_000]) {
    const body = call("[".repeat(depth) + "]".repeat(depth)) + reply({ tool_calls: [] });
    const server = await raw({ body }, { body: reply({ content: "ok" }) });
    const llm = model(server);
    const got = await ask(llm);
    expect(got.outcome.status).toBe("completed");
    expect((await ask(llm, ...answers(got))).outcome.status).toBe("completed");
    const [{ function: sent }] = server.bodies[1].messages[1].tool_calls;
    expect(["{}", callsOf(got)[0]?.arguments]).toContain(sent.arguments);
  }
});

test.each([
  ["content_filter", "content_filter"],
  ["max_tokens", "length"],
  ["MAX_TOKENS", "length"],
  ["max_output_tokens", "length"],
  ["length_limit", "length"],
  ["model_length", "length"],
  ["stop", "stop"],
  ["function_call", "tool_calls"],
  ["eos", "other"],
])("the finish reason %s is told as %s", async (wire, told) => {
  const server = await raw({ body: sse(chunk({ content: "x" }), chunk({}, wire), "[DONE]") });
  expect((await ask(model(server))).outcome).toEqual({ status: "completed", finishReason: told });
});

test("a reply that the provider gave up is no reply (PC-022)", async () => {
  const server = await raw({ body: sse(chunk({ content: "x" }), chunk({}, "error"), "[DONE]") });
  const got = await ask(model(server));
  expect(got.outcome).toEqual({ status: "malformed", message: "the provider gave the reply up (error)" });
  expect(got.complete).toMatchObject([{ text: "x", stop_reason: "malformed" }]);
});

test.each([
  [400, { error: { message: "This model's maximum context length is 8192 tokens.", code: "context_length_exceeded" } }],
  [
    400,
    {
      error: {
        message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      },
    },
  ],
  [
    400,
    {
      error: {
        code: 400,
        message: "the request exceeds the available context size",
        type: "exceed_context_size_error",
      },
    },
  ],
  [422, { message: "prompt is too long: 9000 tokens > 8192 maximum" }],
])("HTTP %i %j says that the input does not fit", async (status, error) => {
  const server = await raw({ status, body: JSON.stringify(error) });
  const { outcome } = await ask(model(server));
  expect(outcome).toMatchObject({ status: "failed", overflow: true });
  expect(outcome.permanent).toBeUndefined();
});

test.each([
  "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
  "prompt token count of 130000 exceeds the limit of 128000",
  "tokens to keep from the initial prompt is greater than the context length",
  "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
  "context size exceeded",
  "The context window has been exceeded.",
  "Your input exceeds the context window of this model.",
  "Prompt too long; exceeded max context length by 12 tokens",
])("the words %j say that the input does not fit", async (message) => {
  const server = await raw({ status: 400, body: JSON.stringify({ error: { message } }) });
  expect((await ask(model(server))).outcome.overflow).toBe(true);
});

test("the code tokens_limit_reached says that the input does not fit", async () => {
  const error = { message: "Request body too large. Max size: 8000 tokens.", code: "tokens_limit_reached" };
  const server = await raw({ status: 413, body: JSON.stringify({ error }) });
  expect((await ask(model(server))).outcome.overflow).toBe(true);
});

test("words on a context window that was not exceeded are no overflow", async () => {
  const error = { message: "Invalid value: context window size must be set; not exceeded" };
  const server = await raw({ status: 400, body: JSON.stringify({ error }) });
  expect((await ask(model(server))).outcome).toMatchObject({ status: "failed", permanent: true });
});

test("a rate limit that speaks of tokens is no overflow", async () => {
  const error = {
    message: "Limit 8000 tokens: reduce the length of the messages",
    type: "tokens",
    code: "rate_limit_exceeded",
  };
  const server = await raw({ status: 429, body: JSON.stringify({ error }) });
  const { outcome } = await ask(model(server));
  expect(outcome.status).toBe("timeout");
  expect(outcome.overflow).toBeUndefined();
});
