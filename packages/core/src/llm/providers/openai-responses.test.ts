import { afterEach, expect, test, vi } from "vitest";
import { modelOver, noComplaints, PIXEL, raw, readFile, reads, strict } from "../../../test/support/adapter-kit.ts";
import { answers, ask, callsOf, output, textOf, thinkingOf } from "../../../test/support/ask.ts";
import type { CollectedReply } from "../../../test/support/collect-reply.ts";
import { collectReply } from "../../../test/support/collect-reply.ts";
import { readBoth, readingTurns } from "../../../test/support/conversation.ts";
import {
  added,
  completed,
  done,
  functionCall,
  incomplete,
  message,
  reply,
  sse,
  textDelta,
  thinkingDelta,
} from "../../../test/support/responses-wire.ts";
import { assistantText, modelMessage, userData, userImage, userText } from "../../omnimessage/build.ts";
import { isCompleteModelMessage } from "../../omnimessage/guards.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import type { GenerativeModelConfig } from "../contract.ts";

const PDF = Buffer.from("%PDF-1.4").toString("base64");

const model = modelOver("openai-responses");

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** What was said so far, as a trace keeps it. */
function recorded(...messages: (OmniMessage | CollectedReply)[]): OmniMessage[] {
  const flat = messages.flatMap((entry) =>
    "outcome" in entry ? entry.messages.filter(isCompleteModelMessage) : [entry],
  );
  return JSON.parse(JSON.stringify(flat));
}

// Whole conversations with the strict server.

test("thinking, text and parallel calls come as segments, and go back unchanged (PC-004, PC-038, PC-040, PC-041, PC-051, PC-106)", async () => {
  const server = await strict(readingTurns());
  const first = await readBoth(model(server, { tools: [readFile], systemPrompt: "Be brief." }));
  expect(thinkingOf(first)).toEqual(["I should look at both."]);
  const { input, tools, store, include } = server.log[2]?.body ?? {};
  expect({ store, include }).toEqual({ store: false, include: ["reasoning.encrypted_content"] });
  expect(tools).toEqual([{ type: "function", ...readFile, strict: false }]);
  const [one, two] = callsOf(first).map((call) => call.tool_call_id);
  const own = first.complete.map(
    ({ fidelity }) => (fidelity as Record<string, Record<string, string>>).openaiResponses,
  );
  expect(own.map((fields) => fields?.itemId?.replace(/_.*/, ""))).toEqual(["rs", "msg", "fc", "fc"]);
  expect(input).toMatchObject([
    { role: "developer", content: "Be brief." },
    { role: "user", content: [{ type: "input_text", text: "go" }] },
    {
      type: "reasoning",
      id: own[0]?.itemId,
      encrypted_content: own[0]?.reasoningEncryptedContent,
      summary: [{ type: "summary_text", text: "I should look at both." }],
    },
    { role: "assistant", id: own[1]?.itemId, content: [{ type: "output_text", text: "Reading." }] },
    { type: "function_call", id: own[2]?.itemId, call_id: one, arguments: '{"path":"a"}' },
    { type: "function_call", id: own[3]?.itemId, call_id: two, arguments: '{"path":"é🙂"}' },
    { type: "function_call_output", call_id: one, output: "output of read_file" },
    { type: "function_call_output", call_id: two, output: "output of read_file" },
    { role: "assistant", content: [{ type: "output_text", text: "Both read." }] },
    { role: "user", content: [{ type: "input_text", text: "sure?" }] },
  ]);
  noComplaints(server);
});

test("a history set from its record is the same request, byte for byte (PC-039, PC-041)", async () => {
  const turns = [
    { parts: [{ thinking: "one" }, { thinking: "two" }, { text: "Hm." }, { tool: "read_file", args: { path: "a" } }] },
    { parts: [{ redacted: true }, { tool: "read_file", args: {} }] },
    "done",
    "again",
  ];
  const server = await strict(turns);
  const llm = model(server, { tools: [readFile] });
  const first = await ask(llm);
  const outputs = answers(first);
  const second = await ask(llm, ...outputs);
  expect(thinkingOf(second)).toEqual([""]);
  const last = answers(second);
  await ask(llm, ...last);
  const resumed = model(server, { tools: [readFile] });
  resumed.setHistory(recorded(userText("go"), first, ...outputs, second));
  await ask(resumed, ...last);
  expect(server.log[3]?.body).toEqual(server.log[2]?.body);
  noComplaints(server);
});

test("images and files of the user, and images in outputs, go where they belong", async () => {
  const server = await strict([{ tools: reads("a", "b") }, "seen"]);
  const llm = model(server, { tools: [readFile] });
  const got = await ask(
    llm,
    userText("compare"),
    userImage(PIXEL),
    userData(PDF, "application/pdf"),
    userData(Buffer.from("a,é").toString("base64"), "text/csv"),
    userData("AAAA", "audio/wav"),
  );
  expect(server.log[0]?.body.input[0].content).toMatchObject([
    { type: "input_text", text: "compare" },
    { type: "input_image", image_url: PIXEL },
    { type: "input_file", file_data: `data:application/pdf;base64,${PDF}` },
    { type: "input_text", text: "a,é" },
    { type: "input_text", text: "[a file could not be sent: the type audio/wav is not supported]" },
  ]);
  const [one, two] = callsOf(got);
  if (!one || !two) throw new Error("two calls were scripted");
  const odd = ["https://example.com/a.png", "data:image/tiff;base64,AAAA"];
  await ask(
    llm,
    output(one.tool_call_id, { output: "two pictures", images: [PIXEL, ...odd] }),
    output(two.tool_call_id, { images: [PIXEL] }),
  );
  expect(server.log[1]?.body.input.slice(-2)).toEqual([
    {
      type: "function_call_output",
      call_id: one.tool_call_id,
      output: [
        { type: "input_text", text: "two pictures" },
        { type: "input_image", image_url: PIXEL },
        { type: "input_image", image_url: odd[0] },
        {
          type: "input_text",
          text: "[an image could not be sent: the type image/tiff is not one of png, jpeg, gif and webp]",
        },
      ],
    },
    {
      type: "function_call_output",
      call_id: two.tool_call_id,
      output: [{ type: "input_image", image_url: PIXEL }],
    },
  ]);
  noComplaints(server);
});

test("a history made with another protocol is accepted: only its thinking and its fidelity stay behind", async () => {
  const server = await strict(["ok"]);
  const llm = model(server, { tools: [{ name: "bare", description: "No schema \ud83d.", parameters: {} }] });
  const id = `toolu_${"0123456789abcdef".repeat(5)}`;
  const foreign = { anthropicMessages: { signature: "sig" }, openai: { itemId: "msg_of_another" } };
  const call = {
    type: "tool_call",
    role: "assistant",
    name: "",
    arguments: '{"a":"\ud83d"}',
    tool_call_id: id,
  } as const;
  const data = PIXEL.slice(PIXEL.indexOf(",") + 1);
  llm.setHistory([
    userText("x\udc00y"),
    modelMessage({ type: "thinking", role: "assistant", thinking: "hm", fidelity: foreign }),
    modelMessage({ type: "text", role: "assistant", text: "so", fidelity: foreign }),
    modelMessage({ type: "inline_data", role: "assistant", data, mime_type: "image/png" }),
    modelMessage(call),
    modelMessage({ ...call, name: "my tool.v2", tool_call_id: "b" }),
    modelMessage({ ...call, name: "constructor", arguments: "{", tool_call_id: "read" }),
    output(id, { output: "\ud83d" }),
    output("b"),
    output("read"),
    modelMessage({ ...call, name: "read", arguments: "{}", tool_call_id: "read#2" }),
  ]);
  expect((await ask(llm, output("read#2"))).outcome.status).toBe("completed");
  const { input, tools } = server.log[0]?.body ?? {};
  expect(input).toMatchObject([
    { role: "user", content: [{ text: "x\ufffdy" }] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "so" }] },
    { name: expect.stringMatching(/^_\w{8}$/), arguments: '{"a":"\ufffd"}' },
    { name: expect.stringMatching(/^my_tool_v2_\w{8}$/), call_id: "b" },
    { name: expect.stringMatching(/^constructor__\w{8}$/), call_id: "read", arguments: "{}" },
    { call_id: input[2].call_id, output: "\ufffd" },
    { call_id: "b" },
    { call_id: "read" },
    { role: "user", content: [{ text: "Files of the reply above:" }, { type: "input_image", image_url: PIXEL }] },
    { type: "function_call", name: "read", call_id: "read_2" },
    { type: "function_call_output", call_id: "read_2" },
  ]);
  expect(JSON.stringify(input)).not.toMatch(/sig|msg_of_another|hm/);
  expect(tools[0].parameters).toEqual({ type: "object", properties: {} });
  noComplaints(server);
});

// What is asked of which model.

test.each<[modelId: string, level: GenerativeModelConfig["thinkingLevel"], effort: string | undefined]>([
  ["gpt-5", "none", "minimal"],
  ["gpt-5", "xhigh", "high"],
  ["gpt-5-2025-08-07", "low", "low"],
  ["gpt-5-codex", "none", "low"],
  ["gpt-5-pro", "low", "high"],
  ["gpt-5.1", "none", "none"],
  ["gpt-5.1", "xhigh", "high"],
  ["gpt-5.1-codex-max", "xhigh", "xhigh"],
  ["gpt-5.2", "xhigh", "xhigh"],
  ["gpt-5.2-pro", "none", "medium"],
  ["gpt-5.3-codex", "none", "low"],
  ["o3-mini", "medium", "medium"],
  ["o1", "none", "low"],
  ["o4-mini", "xhigh", "high"],
  ["o4-mini-deep-research", "low", "medium"],
  ["codex-mini-latest", "none", "low"],
  ["o4-mini", undefined, undefined],
])("%s at level %s is told the effort %s (PC-034, PC-035)", async (modelId, thinkingLevel, effort) => {
  const server = await strict(["ok"]);
  const llm = model(server, { modelId, maxTokens: 900, ...(thinkingLevel && { thinkingLevel }) });
  expect((await ask(llm)).outcome.status).toBe("completed");
  const { input: _, ...body } = server.log[0]?.body ?? {};
  expect(body).toEqual({
    model: modelId,
    stream: true,
    store: false,
    max_output_tokens: 900,
    include: ["reasoning.encrypted_content"],
    reasoning: { summary: "auto", ...(effort !== undefined && { effort }) },
  });
  noComplaints(server);
});

test.each(["gpt-4o", "gpt-4.1-mini", "gpt-5-chat-latest", "o1-mini", "gpt-oss-120b", "qwen3", "my-model"])(
  "%s is asked for nothing that not every model takes (PC-034)",
  async (modelId) => {
    const server = await strict(["ok"], { models: { [modelId]: { reasoning: false } } });
    const llm = model(server, { modelId, systemPrompt: "Be brief.", thinkingLevel: "high" });
    expect((await ask(llm)).outcome.status).toBe("completed");
    const { input, ...body } = server.log[0]?.body ?? {};
    expect(body).toEqual({ model: modelId, stream: true, store: false });
    expect(input[0]).toEqual({ type: "message", role: "system", content: "Be brief." });
    noComplaints(server);
  },
);

test("the output limit is no less than the service takes (PC-033)", async () => {
  const server = await strict(["a"]);
  await ask(model(server, { maxTokens: 3 }));
  expect(server.log[0]?.body.max_output_tokens).toBe(16);
  noComplaints(server);
});

test("reasoning of another model of the service does not reach one that does not reason, nor ids that need it", async () => {
  const server = await strict([{ thinking: "hm", text: "so" }, "ok"]);
  const got = await ask(model(server));
  const other = model(server, { modelId: "gpt-4o" });
  other.setHistory(recorded(userText("go"), got));
  expect((await ask(other, userText("and?"))).outcome.status).toBe("completed");
  expect(server.log[1]?.body.input[1]).toEqual({
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: "so" }],
  });
  noComplaints(server);
});

test("reasoning that nothing follows does not go back alone", async () => {
  const server = await strict([{ thinking: "so long", finish: "length" }, { thinking: "again", text: "so" }, "ok"]);
  const llm = model(server);
  expect((await ask(llm)).outcome).toEqual({ status: "completed", finishReason: "length" });
  await ask(llm, userText("go on"));
  expect((await ask(llm, userText("and?"))).outcome.status).toBe("completed");
  const types = server.log[2]?.body.input.map(({ type, role }: { type: string; role?: string }) => role ?? type);
  expect(types).toEqual(["user", "user", "reasoning", "assistant", "user"]);
  noComplaints(server);
});

// How replies end.

test("usage is counted with what came from the cache (PC-013)", async () => {
  const usage = {
    input_tokens: 308,
    input_tokens_details: { cached_tokens: 256, cache_write_tokens: 10 },
    output_tokens: 12,
    output_tokens_details: { reasoning_tokens: 8 },
    total_tokens: 320,
  };
  const got = await ask(model(await raw({ body: sse(...message("Hi"), completed({ usage })) })));
  expect(got.outcome).toEqual({ status: "completed", finishReason: "stop" });
  expect(got.usage?.request).toEqual({ cache_read: 256, cache_write: 52, output: 12, total: 320 });
});

test.each([null, {}, { input_tokens: "7" }, { prompt_tokens: 7 }, [], "none"])(
  "usage of %j counts as none and ends no reply (PC-020)",
  async (usage) => {
    const got = await ask(model(await raw({ body: sse(...message("Hi"), completed({ usage })) })));
    expect(got.outcome.status).toBe("completed");
    expect(got.usage?.request).toEqual({ cache_read: 0, cache_write: 0, output: 0, total: 0 });
  },
);

test.each([
  ["max_output_tokens", "length"],
  ["max_tokens", "length"],
  ["content_filter", "content_filter"],
  ["something_new", "other"],
  [null, "other"],
])("a reply that is incomplete for %s ends with %s", async (reason, told) => {
  const got = await ask(model(await raw({ body: sse(...message("x"), incomplete(reason)) })));
  expect(got.outcome).toEqual({ status: "completed", finishReason: told });
});

test("a completed response that calls itself incomplete is one", async () => {
  const cut = functionCall("c1", '{"path":"a"}');
  const limit = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
  const server = await raw(
    { body: sse(added(cut, 0), done(cut, 0), completed(limit)) },
    { body: JSON.stringify({ object: "response", ...limit, output: [cut] }) },
  );
  for (const _ of [1, 2]) {
    const got = await ask(model(server));
    expect(got.outcome).toEqual({ status: "completed", finishReason: "length" });
    expect(callsOf(got)).toMatchObject([{ tool_call_id: "c1", stop_reason: "malformed" }]);
  }
});

test.each(['{"path":"a', '{"path":"a"}'])(
  "the output limit inside %s marks the last call, and it goes back with {}",
  async (text) => {
    const whole = functionCall("c6", "");
    const cut = functionCall("c7", text, { status: "incomplete" });
    const body = sse(added(whole, 0), done(whole, 0), added(cut, 1), done(cut, 1), incomplete("max_output_tokens"));
    const server = await raw({ body }, { body: reply(...message("ok")) });
    const llm = model(server);
    const got = await ask(llm);
    expect(got.outcome).toEqual({ status: "completed", finishReason: "length" });
    expect(callsOf(got)).toMatchObject([
      { tool_call_id: "c6", arguments: "{}", stop_reason: "completed" },
      { tool_call_id: "c7", arguments: text, stop_reason: "malformed" },
    ]);
    await ask(llm, ...answers(got));
    expect(server.bodies[1].input.slice(1, 3)).toMatchObject([
      { call_id: "c6", arguments: "{}" },
      { call_id: "c7", arguments: "{}" },
    ]);
  },
);

test("arguments that are no JSON object come as they are and go back as {}", async () => {
  const texts = ['{"path": "a.txt", "content": }', "null", '["ls"]', '{"path":"ok.txt"}'];
  const calls = texts.flatMap((text, i) => [done(functionCall(`c${i}`, text), i)]);
  const server = await raw({ body: reply(...calls) }, { body: reply(...message("ok")) });
  const llm = model(server);
  const got = await ask(llm);
  expect(callsOf(got).map((call) => [call.arguments, call.stop_reason])).toEqual(
    texts.map((text) => [text, "completed"]),
  );
  await ask(llm, ...answers(got));
  const sent = server.bodies[1].input.slice(1, 5).map((item: { arguments: string }) => item.arguments);
  expect(sent).toEqual(["{}", "{}", "{}", texts[3]]);
});

test("a refusal is text, and ends the reply with content_filter", async () => {
  const body = reply(
    added({ type: "message", id: "msg_1" }, 0),
    { type: "response.refusal.delta", item_id: "msg_1", output_index: 0, delta: "I cannot" },
    { type: "response.refusal.delta", item_id: "msg_1", output_index: 0, delta: " do that." },
    done({ type: "message", id: "msg_1", content: [{ type: "refusal", refusal: "I cannot do that." }] }, 0),
  );
  const got = await ask(model(await raw({ body })));
  expect(textOf(got)).toBe("I cannot do that.");
  expect(got.outcome).toEqual({ status: "completed", finishReason: "content_filter" });
});

test("texts of different phases are messages of their own, and go back with their phase (PC-044)", async () => {
  const body = reply(
    ...message("Let me see.", "msg_1", 0, { phase: "commentary" }),
    ...message("It is 4.", "msg_2", 1, { phase: "final_answer" }),
    ...message("Whatever.", "msg_3", 2, { phase: "a_new_one" }),
  );
  const server = await raw({ body });
  const llm = model(server, { modelId: "gpt-4o" });
  const got = await ask(llm);
  expect(got.complete).toMatchObject([{ text: "Let me see." }, { text: "It is 4." }, { text: "Whatever." }]);
  await ask(llm, userText("thanks"));
  expect(server.bodies[1].input.slice(1, 4)).toMatchObject([
    { phase: "commentary", id: "msg_1" },
    { phase: "final_answer", id: "msg_2" },
    { id: "msg_3" },
  ]);
});

test("a summary of several parts is a thinking message for each, and one item when it goes back (PC-041)", async () => {
  const part = (moment: string, summary_index: number): object => ({
    type: `response.reasoning_summary_part.${moment}`,
    item_id: "rs_1",
    output_index: 0,
    summary_index,
  });
  const body = reply(
    added({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "not yet whole" }, 0),
    part("added", 0),
    thinkingDelta("first", "rs_1", 0),
    part("done", 0),
    part("added", 1),
    thinkingDelta("second", "rs_1", 0, 1),
    part("done", 1),
    done({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" }, 0),
    ...message("so", "msg_1", 1),
  );
  const server = await raw({ body });
  const llm = model(server);
  expect(thinkingOf(await ask(llm))).toEqual(["first", "second"]);
  await ask(llm, userText("and?"));
  expect(server.bodies[1].input.slice(1, 3)).toMatchObject([
    {
      type: "reasoning",
      id: "rs_1",
      encrypted_content: "sealed",
      summary: [
        { type: "summary_text", text: "first" },
        { type: "summary_text", text: "second" },
      ],
    },
    { role: "assistant", id: "msg_1" },
  ]);
});

// How requests fail.

test.each([
  [
    401,
    {
      error: {
        message: "Incorrect API key provided: sk-canary-1111.",
        type: "invalid_request_error",
        code: "invalid_api_key",
      },
    },
    { status: "auth", message: expect.stringContaining("Incorrect API key provided") },
  ],
  [
    404,
    { error: { message: "The model `x` does not exist", type: "invalid_request_error", code: "model_not_found" } },
    { status: "failed", permanent: true, message: expect.stringContaining("does not exist") },
  ],
  [
    400,
    { error: { message: "Invalid prompt: flagged", type: "invalid_request_error", code: "invalid_prompt" } },
    { status: "failed", permanent: true },
  ],
  [
    429,
    { error: { message: "You exceeded your current quota", type: "insufficient_quota", code: "insufficient_quota" } },
    { status: "failed", permanent: true },
  ],
  [500, { error: { message: "oops", type: "server_error" } }, { status: "timeout" }],
  [503, "<html><title>Service Unavailable</title></html>", { status: "timeout" }],
  [403, { error: { message: "no" } }, { status: "failed" }],
  [
    400,
    { error: { message: "Your input exceeds the context window of this model.", code: "context_length_exceeded" } },
    { status: "failed", overflow: true },
  ],
  [400, { error: { message: "prompt is too long: 9000 tokens > 8192 maximum" } }, { status: "failed", overflow: true }],
])("HTTP %i %j is told as what it is (PC-015 to PC-017, PC-021 to PC-025)", async (status, error, told) => {
  const body = typeof error === "string" ? error : JSON.stringify(error);
  const server = await raw({ status, body });
  const { outcome } = await ask(model(server));
  expect(outcome).toMatchObject(told);
  expect(outcome.message).not.toContain("canary");
  expect(server.paths).toHaveLength(1);
});

test.each([
  [{ "retry-after": "7" }, 7000],
  [{ "retry-after-ms": "1500" }, 1500],
])("a rate limit says how long to wait: %j (PC-021)", async (headers, retryAfterMs) => {
  const body = JSON.stringify({ error: { message: "slow down", type: "tokens", code: "rate_limit_exceeded" } });
  const { outcome } = await ask(model(await raw({ status: 429, headers, body })));
  expect(outcome).toMatchObject({ status: "timeout", retryAfterMs });
});

test("a rate limit may name a date", async () => {
  const server = await strict([{ fault: { status: 429, retryAfter: "date:40" } }]);
  const { outcome } = await ask(model(server));
  expect(outcome.status).toBe("timeout");
  expect(outcome.retryAfterMs).toBeGreaterThan(30_000);
  expect(outcome.retryAfterMs).toBeLessThanOrEqual(40_000);
});

test.each<[told: string, event: object | string, outcome: object]>([
  [
    "a failed response",
    { type: "response.failed", response: { error: { code: "server_error", message: "It broke." } } },
    { status: "timeout", message: "the provider reported an error (server_error): It broke." },
  ],
  [
    "a failed response without a reason",
    { type: "response.failed", response: { error: null } },
    { status: "failed", message: "the provider reported an error: the response ended as failed" },
  ],
  [
    "a flat error event",
    { type: "error", code: "rate_limit_exceeded", message: "Too fast.", param: null, sequence_number: 3 },
    { status: "timeout", message: "the provider reported an error (rate_limit_exceeded): Too fast." },
  ],
  [
    "a nested error event",
    { type: "error", error: { type: "invalid_request_error", code: "bad", message: "No." } },
    { status: "failed", permanent: true, message: "the provider reported an error (invalid_request_error, bad): No." },
  ],
  [
    "an error without a type",
    { error: { message: "Overloaded.", code: 503 } },
    { status: "timeout", message: "the provider answered HTTP 503: Overloaded." },
  ],
  [
    "an error that is a text",
    { error: "gone wrong" },
    { status: "failed", message: "the provider reported an error: gone wrong" },
  ],
  [
    "too long an input",
    { type: "error", code: "context_length_exceeded", message: "Your input exceeds the context window." },
    { status: "failed", overflow: true },
  ],
  ["an unknown error", { type: "error", code: "moon_phase", message: "Wait." }, { status: "failed" }],
  [
    "a content refusal",
    { type: "response.failed", response: { error: { code: "content_policy_violation", message: "No." } } },
    { status: "failed", permanent: true },
  ],
  [
    "spent credit",
    { type: "error", code: "insufficient_quota", message: "Pay." },
    { status: "failed", permanent: true },
  ],
  ["a wrong key", { type: "error", error: { type: "authentication_error", message: "Who?" } }, { status: "auth" }],
  [
    "a completed response with an error",
    completed({ error: { code: "server_error", message: "Not quite." } }),
    { status: "timeout" },
  ],
  [
    "an event that is no JSON",
    '{"type":"response.outp',
    { status: "malformed", message: "an event of the reply is not valid JSON" },
  ],
  [
    "an error that is its object",
    { object: "error", message: "prompt is too long", type: "BadRequestError", code: 400 },
    { status: "failed", overflow: true },
  ],
  [
    "another protocol",
    { object: "chat.completion.chunk", choices: [{ delta: { content: "Hi" } }] },
    {
      status: "failed",
      permanent: true,
      message: expect.stringContaining("set the client type of this model to openai-chat"),
    },
  ],
])("%s inside the stream, before or behind the first output (PC-022, PC-023, PC-027)", async (_, event, outcome) => {
  const server = await raw(
    { body: sse({ type: "response.created", response: {} }, event) },
    { body: sse(added({ type: "message", id: "msg_1" }, 0), textDelta("begun", "msg_1", 0), event, completed()) },
  );
  const llm = model(server);
  expect((await ask(llm)).outcome).toEqual(expect.objectContaining(outcome));
  const late = await ask(llm);
  expect(late.outcome).toEqual(expect.objectContaining(outcome));
  expect(late.complete).toMatchObject([{ text: "begun", stop_reason: late.outcome.status }]);
});

test.each([
  ["before anything", ""],
  ["behind its beginning", sse({ type: "response.created", response: {} })],
  ["behind a whole message", sse(...message("x"))],
  ["inside its end", sse(...message("x")) + sse(completed()).slice(0, 40)],
])("a stream that ends cleanly %s is no reply (PC-022)", async (_, body) => {
  const { outcome } = await ask(model(await raw({ body })));
  expect(outcome).toEqual({ status: "malformed", message: "the reply ended without its end marker" });
});

test("a connection that breaks is a time-out, and behind the end marker it is nothing (PC-021)", async () => {
  const server = await raw(
    (response) => void response.write(sse(...message("x")), () => response.destroy()),
    (response) => void response.write(reply(...message("whole")), () => response.destroy()),
    (response) => void response.write(reply(...message("whole"))),
  );
  expect((await ask(model(server))).outcome.status).toBe("timeout");
  expect((await ask(model(server))).outcome.status).toBe("completed");
  expect((await ask(model(server))).outcome.status).toBe("completed");
});

test("a server that falls silent is a time-out (PC-021)", async () => {
  const server = await raw((response) => void response.write(sse(...message("x"))));
  const got = await ask(model(server, { requestTimeoutMs: 50 }));
  expect(got.outcome).toEqual({ status: "timeout", message: "the provider sent nothing for 50 ms" });
});

test("an abort ends a request that the server goes on with (PC-010, PC-024)", async () => {
  const server = await raw((response) => void response.write(sse(...message("x"))));
  const abort = new AbortController();
  const got = await collectReply(
    model(server),
    { newMessages: [userText("go")], signal: abort.signal },
    ({ payload }) => {
      if (payload.type === "partial_text" && payload.event_type === "delta") abort.abort();
    },
  );
  expect(got.outcome).toEqual({ status: "aborted" });
});

test("a failed request leaves nothing in the history (PC-008, PC-028)", async () => {
  const server = await strict([
    { thinking: "hm", text: "half", faults: [{ eof: { after: "delta:2" } }], chunk: 1 },
    "ok",
  ]);
  const llm = model(server);
  expect((await ask(llm)).outcome.status).toBe("malformed");
  expect(textOf(await ask(llm))).toBe("half");
  expect(server.log[1]?.body).toEqual(server.log[0]?.body);
  noComplaints(server);
});

test("nothing is printed, whatever the package has to warn of", async () => {
  const printed = (["log", "info", "warn", "error"] as const).map((name) => vi.spyOn(console, name));
  const server = await raw({ body: reply(...message("ok")) });
  const llm = model(server, { modelId: "gpt-6-sol", thinkingLevel: "none" });
  llm.setHistory([
    userText("x"),
    modelMessage({
      type: "thinking",
      role: "assistant",
      thinking: "hm",
      fidelity: { openaiResponses: { itemId: "rs_1" } },
    }),
    assistantText("so"),
  ]);
  expect((await ask(llm)).outcome.status).toBe("completed");
  for (const spy of printed) expect(spy).not.toHaveBeenCalled();
});
