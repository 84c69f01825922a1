import { afterEach, expect, test } from "vitest";
import { collectReply } from "../../../test/support/collect-reply.ts";
import { answers, ask, callsOf, model, output, reply, text, textOf } from "../../../test/support/messages-service.ts";
import { type RawAnswer, type RawProvider, startRawProvider } from "../../../test/support/raw-provider.ts";
import { type StrictServer, startStrictServer } from "../../../test/support/strict-server.ts";
import { modelMessage, userImage, userText } from "../../omnimessage/build.ts";
import type { OmniMessage, ThinkingPayload, ToolDefinition } from "../../omnimessage/message.ts";
import type { GenerativeModelConfig } from "../contract.ts";
import { GenerativeModel } from "../generative-model.ts";

const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4AWM4oaAARAwQCgAfjgQheRdXpgAAAABJRU5ErkJggg==";
const PIXEL_DATA = PIXEL.slice("data:image/png;base64,".length);
const MARK = { cache_control: { type: "ephemeral" } };
const readFile: ToolDefinition = {
  name: "read_file",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function strict(turns: unknown): Promise<StrictServer> {
  const server = await startStrictServer({ scripts: turns });
  closing.push(() => server.close());
  return server;
}

async function raw(...answers: RawAnswer[]): Promise<RawProvider> {
  const provider = await startRawProvider(...answers);
  closing.push(() => provider.close());
  return provider;
}

function call(tool_call_id: string, name: string, args = "{}"): OmniMessage {
  return modelMessage({ type: "tool_call", role: "assistant", name, arguments: args, tool_call_id });
}

function thought(thinking: string, fidelity: ThinkingPayload["fidelity"]): OmniMessage {
  return modelMessage({ type: "thinking", role: "assistant", thinking, ...(fidelity && { fidelity }) });
}

function noComplaints(server: StrictServer): void {
  expect(server.violations).toEqual([]);
  expect(server.warnings).toEqual([]);
  expect(server.internal).toEqual([]);
}

// Whole conversations with the strict server.

test("thinking, text and parallel calls come as segments, and go back unchanged (PC-004, PC-038, PC-040, PC-041, PC-051)", async () => {
  const server = await strict([
    {
      thinking: "I should look\n at both. ",
      redacted: true,
      text: "Reading.",
      tools: [
        { name: "read_file", args: { path: "a" } },
        { name: "read_file", args: { path: "é🙂" } },
      ],
      interleave: true,
      chunk: 3,
    },
    { text: "Both read." },
    { text: "Yes." },
  ]);
  const llm = model(server, { tools: [readFile], systemPrompt: "Be brief.", thinkingLevel: "low" });
  const first = await ask(llm);
  expect(first.outcome).toEqual({ status: "completed", finishReason: "tool_calls" });
  expect(first.complete).toMatchObject([
    { type: "thinking", thinking: "I should look\n at both. " },
    { type: "thinking", thinking: "" },
    { type: "text", text: "Reading." },
    { type: "tool_call", name: "read_file", arguments: '{"path":"a"}' },
    { type: "tool_call", name: "read_file", arguments: '{"path":"é🙂"}' },
  ]);
  const second = await ask(llm, ...answers(first).reverse());
  expect(textOf(second)).toBe("Both read.");
  expect(textOf(await ask(llm, userText("sure?")))).toBe("Yes.");
  const { messages, tools, tool_choice, system } = server.log[2]?.body ?? {};
  const [one, two] = callsOf(first).map((call) => call.tool_call_id);
  expect(system).toEqual([{ type: "text", text: "Be brief.", ...MARK }]);
  expect(tools).toEqual([
    { name: "read_file", description: "Reads a file.", input_schema: { ...readFile.parameters } },
  ]);
  expect(tool_choice).toBeUndefined();
  expect(messages).toEqual([
    { role: "user", content: [{ type: "text", text: "go" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "I should look\n at both. ", signature: expect.stringMatching(/./) },
        { type: "redacted_thinking", data: expect.stringMatching(/./) },
        { type: "text", text: "Reading." },
        { type: "tool_use", id: one, name: "read_file", input: { path: "a" } },
        { type: "tool_use", id: two, name: "read_file", input: { path: "é🙂" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: one, content: "output of read_file" },
        { type: "tool_result", tool_use_id: two, content: "output of read_file", ...MARK },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "Both read." }] },
    { role: "user", content: [{ type: "text", text: "sure?", ...MARK }] },
  ]);
  noComplaints(server);
});

test.each([
  ["bytes one by one", { bytes: 1 }],
  ["cuts inside characters", { bytes: "utf8", crlf: true }],
  ["cuts inside escapes", { bytes: "escape", unicodeEscapes: true }],
  ["cuts before line ends", { bytes: "lines", crlf: true, bom: true }],
  ["everything at once", { bytes: "coalesce" }],
  ["keep-alive comments", { keepAlive: true }],
  ["another content type", { contentType: "text/plain" }],
  ["a start of a block that comes twice", { duplicate: { at: 2 } }],
])("%s change nothing in a reply (PC-040)", async (_, fault) => {
  const server = await strict([
    { thinking: "hé", text: "日本 🙂", tools: [{ name: "read_file", args: { path: 'a"\\\n🙂' } }], chunk: 20, fault },
    "ok",
  ]);
  const llm = model(server, { tools: [readFile], thinkingLevel: "high" });
  const reply = await ask(llm);
  expect(reply.complete).toMatchObject([
    { thinking: "hé" },
    { text: "日本 🙂" },
    { arguments: JSON.stringify({ path: 'a"\\\n🙂' }) },
  ]);
  expect((await ask(llm, ...answers(reply))).outcome.status).toBe("completed");
  noComplaints(server);
});

test("a pair of surrogates split over two deltas is whole in the message", async () => {
  const server = await strict([{ text: "a🏔b", chunk: 2, splitSurrogates: true }, "ok"]);
  const llm = model(server);
  expect(textOf(await ask(llm))).toBe("a🏔b");
  await ask(llm, userText("next"));
  expect(server.log[1]?.body.messages[1].content[0].text).toBe("a🏔b");
  noComplaints(server);
});

test.each(["missing", "empty", "duplicate", "reused"])(
  "calls with %s ids run apart and are told apart in the next request (PC-048)",
  async (ids) => {
    const tools = [
      { name: "read_file", args: { path: "a" } },
      { name: "read_file", args: { path: "b" } },
    ];
    const server = await strict([{ tools }, { tools, fault: { ids }, interleave: true }, "ok"]);
    const llm = model(server, { tools: [readFile] });
    const first = await ask(llm);
    const second = await ask(llm, ...answers(first));
    const calls = [...callsOf(first), ...callsOf(second)];
    expect(calls.map((call) => call.arguments)).toEqual([
      '{"path":"a"}',
      '{"path":"b"}',
      '{"path":"a"}',
      '{"path":"b"}',
    ]);
    expect(new Set(calls.map((call) => call.tool_call_id)).size).toBe(4);
    expect((await ask(llm, ...answers(second))).outcome.status).toBe("completed");
    noComplaints(server);
  },
);

const FAMILIES = [
  ["claude-3-5-haiku-20241022", "high"],
  ["claude-opus-4-5", "high"],
  ["claude-sonnet-4-6", "high"],
  ["claude-opus-4-7", "high"],
  ["claude-sonnet-5-5", "none"],
  ["claude-fable-5-1", "high"],
  ["claude-fable-5-1", undefined],
  ["kimi-k2", "high"],
] as const;
const FAULTS = [
  null,
  { status: 529 },
  { reset: { after: 3 } },
  { status: 429, retryAfter: 0 },
  { eof: true },
  { errorEvent: true },
  { malformed: { at: 4 } },
  { eof: { after: 5, midFrame: true } },
];

test.each(FAMILIES)(
  "27 turns with %s at level %s, with images, and with failures between them, are held without a loss (PC-041, PC-051)",
  async (modelId, thinkingLevel) => {
    const turns = Array.from({ length: 27 }, (_, i) => ({
      thinking: `Thought ${i} …`,
      ...(i % 5 === 4 && { redacted: true }),
      text: `Turn ${i} é🙂.`,
      ...(i % 4 !== 3 && {
        tools: [
          { name: "read_file", args: { path: `a${i}` } },
          { name: "read_file", args: { path: `b${i}` } },
        ],
        interleave: true,
      }),
      faults: [FAULTS[i % FAULTS.length], null],
    }));
    const server = await strict(turns);
    const llm = model(server, {
      modelId,
      tools: [readFile],
      systemPrompt: "Be brief.",
      ...(thinkingLevel && { thinkingLevel }),
    });
    let next: OmniMessage[] = [userText("go"), userImage(PIXEL)];
    for (const [i, { text }] of turns.entries()) {
      let reply = await ask(llm, ...next);
      if (reply.outcome.status !== "completed") reply = await ask(llm, ...next);
      expect(reply.outcome.status).toBe("completed");
      expect(textOf(reply)).toBe(text);
      const outputs = answers(reply, i % 3 === 0 ? { images: [PIXEL] } : {});
      next = outputs.length > 0 ? outputs : [userText(`next ${i}`)];
    }
    noComplaints(server);
  },
);

test("thinking goes back from a history that was stored, redacted too, and through a change of the level (PC-011, PC-039, PC-041)", async () => {
  const tools = [{ name: "read_file", args: { path: "a" } }];
  const server = await strict([
    { thinking: " I look. ", redacted: true, tools },
    { text: "x" },
    { text: "y" },
    { text: "z" },
  ]);
  const config = { tools: [readFile], thinkingLevel: "high" } as const;
  const first = await ask(model(server, config));
  const stored = JSON.parse(
    JSON.stringify([userText("go"), ...first.complete.map((payload) => modelMessage(payload))]),
  );
  const llm = model(server, config);
  llm.setHistory(stored);
  await ask(llm, ...answers(first));
  await collectReply(llm, { newMessages: [userText("b")], thinkingLevel: "none" });
  await ask(llm, userText("c"));
  const sent = server.log.slice(1).map(({ body }) => body.messages[1].content.slice(0, 2));
  expect(sent[0]).toEqual([
    { type: "thinking", thinking: " I look. ", signature: expect.any(String) },
    { type: "redacted_thinking", data: expect.any(String) },
  ]);
  expect(sent).toEqual([sent[0], sent[0], sent[0]]);
  noComplaints(server);
});

test("the beginning of a prompt stays what it was, but for the marks of the cache, of which there are three", async () => {
  const turn = { thinking: "t", tools: [{ name: "read_file", args: { path: "a" } }] };
  const server = await strict([turn, turn, turn, "x", turn, "y"]);
  const llm = model(server, { tools: [readFile], systemPrompt: "Be brief.", thinkingLevel: "high" });
  let reply = await ask(llm);
  for (let i = 0; i < 5; i += 1) {
    reply =
      callsOf(reply).length > 0 ? await ask(llm, ...answers(reply), userText("and")) : await ask(llm, userText("next"));
  }
  const marks = server.log.map(({ body }) => JSON.stringify(body).split("cache_control").length - 1);
  expect(marks).toEqual([2, 3, 3, 3, 3, 3]);
  const plain = server.log.map(({ body }) =>
    JSON.stringify({ ...body.messages })
      .replaceAll(`,${JSON.stringify(MARK).slice(1, -1)}`, "")
      .slice(0, -1),
  );
  for (const [i, text] of plain.entries()) expect(plain[i + 1]?.startsWith(text) ?? true).toBe(true);
  noComplaints(server);
});

// What another protocol left behind.

test("a history of another protocol is accepted: ids, names, calls, images, thinking (PC-050)", async () => {
  const server = await strict(["ok", "yes"]);
  const llm = model(server, { tools: [{ ...readFile, name: "my tool.v2" }], thinkingLevel: "high" });
  llm.setHistory([
    userText("x\udc00y"),
    thought("foreign", { openaiChat: { reasoning: "r" } }),
    thought("signed elsewhere", { google: { thoughtSignature: "s" } }),
    thought("odd", { anthropic: { signature: 7, redactedData: "" } }),
    call("call_1|fc_2.x", "my tool.v2", '{"a":"\ud83d"}'),
    call("read", "", '{"__proto__":{"x":1}}'),
    output("read", " "),
    output("call_1|fc_2.x", "", { images: [PIXEL, "data:image/tiff;base64,AAAA", "https://example.com/a.png"] }),
    userText("more"),
    call("read#2", "my tool.v2"),
    output("read#2", "again"),
    modelMessage({ type: "inline_data", role: "assistant", data: PIXEL_DATA, mime_type: "image/png" }),
  ]);
  expect((await ask(llm, userText("go"))).outcome.status).toBe("completed");
  expect((await ask(llm, userText("on"))).outcome.status).toBe("completed");
  const { messages } = server.log[0]?.body ?? {};
  const [one, two] = messages[1].content.map(({ id }: { id: string }) => id);
  expect(messages).toMatchObject([
    { role: "user", content: [{ text: "x\ufffdy" }] },
    {
      role: "assistant",
      content: [
        {
          type: "tool_use",
          id: expect.stringMatching(/^call_\w{32}$/),
          name: expect.stringMatching(/^my_tool_v2_\w{8}$/),
        },
        { type: "tool_use", id: "read", name: expect.stringMatching(/^_\w{8}$/) },
      ],
    },
    {
      role: "user",
      content: [
        {
          tool_use_id: one,
          content: [
            { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL_DATA } },
            { type: "text", text: expect.stringMatching(/^\[an image could not be sent: the type image\/tiff/) },
            { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
          ],
        },
        { tool_use_id: two, content: "" },
        { type: "text", text: "more" },
      ],
    },
    { role: "assistant", content: [{ type: "tool_use", id: "read_2", name: messages[1].content[0].name, input: {} }] },
    { role: "user", content: [{ tool_use_id: "read_2", content: "again" }] },
    { role: "assistant", content: [{ type: "text", text: "[image/png, shown in the next message]" }] },
    { role: "user", content: [{ text: "From the reply above:" }, { type: "image" }, { text: "go" }] },
  ]);
  expect(JSON.stringify(messages[1].content[1].input)).toBe('{"__proto__":{"x":1}}');
  expect(server.log[1]?.body.messages[6].content).toHaveLength(3);
  noComplaints(server);
});

test("calls that would go out under one id are told apart, each with its own output", async () => {
  const server = await strict(["ok"]);
  const llm = model(server, { tools: [readFile] });
  llm.setHistory([userText("x"), call("read#2", "read_file"), call("read", "read_file")]);
  await ask(llm, output("read", "second"), output("read#2", "first"));
  expect(server.log[0]?.body.messages.slice(1)).toMatchObject([
    { content: [{ id: "read" }, { id: "read_2" }] },
    {
      content: [
        { tool_use_id: "read", content: "first" },
        { tool_use_id: "read_2", content: "second" },
      ],
    },
  ]);
  noComplaints(server);
});

test.each(["claude-sonnet-4-5", "claude-opus-4-7", "claude-fable-5-1"])(
  "%s goes on in a round of calls that began without thinking",
  async (modelId) => {
    const server = await strict([
      { thinking: "t", text: "ok" },
      { thinking: "t", text: "ok" },
    ]);
    const llm = model(server, { modelId, tools: [readFile], thinkingLevel: "high", maxTokens: 8000 });
    llm.setHistory([userText("x"), call("a", "read_file"), output("a", "1"), call("b", "read_file")]);
    expect((await ask(llm, output("b", "2"), userText("and"))).outcome.status).toBe("completed");
    expect((await ask(llm, userText("next"))).outcome.status).toBe("completed");
    const [first, second] = server.log.map(({ body }) => [body.thinking.type, body.max_tokens]);
    expect(first).toEqual([modelId === "claude-sonnet-4-5" ? "disabled" : "adaptive", 8000]);
    expect(second).toEqual([modelId === "claude-sonnet-4-5" ? "enabled" : "adaptive", 8000]);
    noComplaints(server);
  },
);

test("a model that binds its thinking to what came before it goes on when the tools change", async () => {
  const server = await strict([
    { thinking: "t", tools: [{ name: "read_file", args: {} }] },
    { thinking: "u", text: "ok" },
  ]);
  const llm = model(server, { modelId: "claude-fable-5-1", tools: [readFile], thinkingLevel: "high" });
  const reply = await ask(llm);
  const tools = [readFile, { ...readFile, name: "more" }];
  expect((await collectReply(llm, { newMessages: answers(reply), tools })).outcome.status).toBe("completed");
  expect(server.violations).toEqual([]);
});

test("what another vendor's model has signed goes back to it, and not to Anthropic's, nor the other way round", async () => {
  const turn = { thinking: "t", text: "x" };
  for (const [writer, reader] of [
    ["kimi-k2", "claude-sonnet-4-5"],
    ["claude-sonnet-4-5", "kimi-k2"],
  ] as const) {
    const server = await strict([turn, turn, turn]);
    const first = model(server, { modelId: writer, thinkingLevel: "high" });
    const { complete } = await ask(first);
    await ask(first);
    const second = model(server, { modelId: reader, thinkingLevel: "high" });
    second.setHistory([userText("go"), ...complete.map((payload) => modelMessage(payload))]);
    await ask(second);
    const sent = server.log
      .slice(1)
      .map(({ body }) => body.messages[1].content.map(({ type }: { type: string }) => type));
    expect(sent).toEqual([["thinking", "text"], ["text"]]);
    noComplaints(server);
  }
});

test("thinking behind other blocks, as newer models write it, switches a budget off", async () => {
  const turn = { parts: [{ text: "first" }, { thinking: "then" }, { text: "last" }] };
  const server = await strict([turn, "ok"]);
  const reply = await ask(model(server, { modelId: "claude-opus-4-7", thinkingLevel: "high" }));
  const llm = model(server, { thinkingLevel: "high" });
  llm.setHistory([userText("go"), ...reply.complete.map((payload) => modelMessage(payload))]);
  expect((await ask(llm)).outcome.status).toBe("completed");
  expect(server.log[1]?.body.thinking).toEqual({ type: "disabled" });
  expect(server.violations).toEqual([]);
});

test("a history with calls goes out with tools though none are offered", async () => {
  const server = await strict(["ok"]);
  const llm = model(server);
  llm.setHistory([userText("x"), call("a", "read_file"), output("a", "1")]);
  expect((await ask(llm)).outcome.status).toBe("completed");
  expect(server.log[0]?.body).toMatchObject({
    tools: [{ name: "read_file", description: "No longer available.", input_schema: { type: "object" } }],
    tool_choice: { type: "none" },
  });
  noComplaints(server);
});

test("blank texts are left out, or said to be; a reply of nothing but thinking is closed", async () => {
  const server = await strict([{ thinking: "hm" }, "ok"]);
  const llm = model(server, { systemPrompt: " \n", thinkingLevel: "high" });
  await ask(llm, userText("go"));
  await ask(llm, userText(" "), userImage(PIXEL));
  expect(server.log[1]?.body.system).toBeUndefined();
  expect(server.log[1]?.body.messages).toMatchObject([
    { content: [{ text: "go" }] },
    {
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "[no answer]" },
      ],
    },
    { content: [{ type: "image" }] },
  ]);
  await ask(llm, userText(""));
  expect(server.log[2]?.body.messages[4].content[0].text).toBe("[empty message]");
  expect(server.violations).toMatchObject([{ rule: "script/exhausted" }]);
});

test("files go as the service takes them; what it would refuse is said in their place", async () => {
  const server = await strict(["ok"]);
  const file = (data: string, mime_type: string): OmniMessage =>
    modelMessage({
      type: "inline_data",
      role: "user",
      data: Buffer.from(data, "latin1").toString("base64"),
      mime_type,
    });
  const image = modelMessage({ type: "inline_data", role: "user", data: PIXEL_DATA, mime_type: "image/jpeg" });
  const { outcome } = await ask(
    model(server),
    file("%PDF-1.4", "application/pdf"),
    file("a,b", "text/csv"),
    file(" ", "text/plain"),
    file("RIFF", "audio/wav"),
    file("no image", "image/png"),
    file(`\x89PNG\r\n\x1a\n${"x".repeat(4 * 2 ** 20)}`, "image/png"),
    image,
  );
  expect(outcome.status).toBe("completed");
  expect(server.log[0]?.body.messages[0].content).toMatchObject([
    { type: "document", source: { type: "base64", media_type: "application/pdf" } },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "a,b" } },
    { text: "[a file could not be sent: it is blank]" },
    { text: "[a file could not be sent: the type audio/wav is not supported]" },
    { text: "[an image could not be sent: it is no png, jpeg, gif or webp image]" },
    { text: "[an image could not be sent: it is larger than 5 MiB]" },
    { type: "image", source: { media_type: "image/png" } },
  ]);
  noComplaints(server);
});

test("tools with any schema and name are offered in a form that is taken, and called by their own names", async () => {
  const server = await strict([{ tools: [{ name: "my_tool_v2_c4c5a1a7" }] }]);
  const odd = {
    name: "my tool.v2",
    description: "",
    parameters: { oneOf: [{ properties: { "a b": {} } }], items: [{}] },
  };
  const bare = { name: "bare", description: "No schema \ud83d.", parameters: {} };
  const old = { name: "old", description: "x", parameters: { type: "object", properties: { a: { type: "any" } } } };
  const llm = model(server, { tools: [odd, bare, old] });
  await ask(llm);
  const [{ name }] = server.log[0]?.body.tools ?? [];
  expect(name).toMatch(/^my_tool_v2_\w{8}$/);
  noComplaints(server);
  const again = await strict([{ tools: [{ name }] }]);
  expect(callsOf(await ask(model(again, { tools: [odd] })))).toMatchObject([{ name: "my tool.v2", arguments: "{}" }]);
});

// What is asked of which model.

const budget = (budget_tokens: number): object => ({ thinking: { type: "enabled", budget_tokens } });
const adaptive = (effort: string, more = {}): object => ({
  thinking: { type: "adaptive", ...more },
  output_config: { effort },
});
const binding = { block_binding: { prefix_mismatch_behavior: "drop_block" } };
const summarized = { display: "summarized" };
const disabled = { thinking: { type: "disabled" } };

test.each<
  [modelId: string, level: GenerativeModelConfig["thinkingLevel"], maxTokens: number | undefined, sent: object]
>([
  ["claude-3-haiku-20240307", "high", undefined, { max_tokens: 4096 }],
  ["claude-3-5-sonnet-latest", "high", undefined, { max_tokens: 8192 }],
  ["claude-3-7-sonnet-20250219", "low", undefined, { max_tokens: 32_000, ...budget(2048) }],
  ["claude-opus-4-20250514", "xhigh", undefined, { max_tokens: 32_000, ...budget(27_904) }],
  ["claude-sonnet-4-5", undefined, undefined, { max_tokens: 32_000 }],
  ["claude-sonnet-4-5", "none", 900, { max_tokens: 900, ...disabled }],
  ["claude-sonnet-4-5", "medium", 900, { max_tokens: 1474, ...budget(1024) }],
  ["claude-sonnet-4-5", "medium", 6000, { max_tokens: 6000, ...budget(3000) }],
  ["claude-sonnet-4-5", "high", 64_000, { max_tokens: 64_000, ...budget(16_384) }],
  ["claude-sonnet-4-6", "xhigh", undefined, { max_tokens: 64_000, ...adaptive("high") }],
  ["claude-opus-4-6", "low", 900, { max_tokens: 900, ...adaptive("low") }],
  ["claude-opus-4-7", "xhigh", undefined, { max_tokens: 64_000, ...adaptive("xhigh", summarized) }],
  ["claude-opus-4-7", undefined, undefined, { max_tokens: 64_000 }],
  ["claude-opus-4-7", "none", undefined, { max_tokens: 64_000, ...disabled }],
  ["claude-sonnet-5", "none", undefined, { max_tokens: 64_000, ...disabled }],
  ["claude-haiku-5-5", "none", undefined, { max_tokens: 64_000, ...disabled }],
  ["claude-sonnet-5-5", "none", undefined, { max_tokens: 64_000, thinking: { type: "between_tools" } }],
  ["claude-opus-5-5", "none", undefined, { max_tokens: 64_000, output_config: { effort: "low" } }],
  ["claude-mythos-5", "none", undefined, { max_tokens: 64_000, output_config: { effort: "low" } }],
  ["claude-fable-5-1", "high", undefined, { max_tokens: 64_000, ...adaptive("high", { ...summarized, ...binding }) }],
  ["claude-fable-5-1", undefined, undefined, { max_tokens: 64_000, thinking: { type: "adaptive", ...binding } }],
  ["claude-unheard-of", "high", undefined, { max_tokens: 8192 }],
  ["kimi-k2", "medium", undefined, { max_tokens: 8192, ...budget(4096) }],
  ["glm-5", "none", undefined, { max_tokens: 8192, ...disabled }],
])(
  "%s at level %s with a limit of %s is sent %j (PC-033, PC-034, PC-035)",
  async (modelId, thinkingLevel, maxTokens, sent) => {
    const server = await strict(["ok"]);
    const config = { ...(thinkingLevel && { thinkingLevel }), ...(maxTokens !== undefined && { maxTokens }) };
    expect((await ask(model(server, { modelId, ...config }))).outcome.status).toBe("completed");
    const { model: id, messages, stream, ...rest } = server.log[0]?.body ?? {};
    expect({ id, stream }).toEqual({ id: modelId, stream: true });
    expect(rest).toEqual(sent);
    noComplaints(server);
  },
);

test.each([
  ["", "/v1/messages"],
  ["/", "/v1/messages"],
  ["/v1//", "/v1/messages"],
  ["/v2beta", "/v2beta/messages"],
  ["/api/anthropic?api-version=7&a=b", "/api/anthropic/v1/messages?api-version=7&a=b"],
])("the address %j is asked at %s", async (path, asked) => {
  const server = await raw({ body: reply(text("ok")) });
  const llm = model(server, { baseUrl: `${server.url}${path}`, headers: { "X-Team": "red" } });
  expect(textOf(await ask(llm))).toBe("ok");
  expect(server.paths).toEqual([asked]);
  expect(server.headers[0]).toMatchObject({
    "x-team": "red",
    "x-api-key": "sk-ant-canary-1111",
    "anthropic-version": "2023-06-01",
  });
});

test("the vendor's address is the default one, and requests go out through the given fetch", async () => {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (input) => {
    asked.push(String(input));
    return new Response(reply(text("ok")), { headers: { "content-type": "text/event-stream" } });
  };
  const llm = new GenerativeModel({ modelId: "claude-opus-5", apiKey: "k", tools: [], fetch });
  expect(textOf(await ask(llm))).toBe("ok");
  expect(asked).toEqual(["https://api.anthropic.com/v1/messages"]);
});

test("without a key none is sent, whatever the environment holds; a header of the configuration stands for it", async () => {
  const server = await raw({ body: reply(text("ok")) });
  const { ANTHROPIC_API_KEY: before } = process.env;
  process.env.ANTHROPIC_API_KEY = "sk-ant-of-the-environment";
  try {
    const config = { modelId: "claude-opus-5", baseUrl: server.url, tools: [] };
    await ask(new GenerativeModel(config));
    await ask(new GenerativeModel({ ...config, apiKey: "k", headers: { "X-Api-Key": "mine" } }));
  } finally {
    if (before === undefined) delete process.env.ANTHROPIC_API_KEY;
    else process.env.ANTHROPIC_API_KEY = before;
  }
  expect(server.headers.map((headers) => headers["x-api-key"])).toEqual([undefined, "mine"]);
  expect(server.headers.map(({ authorization }) => authorization)).toEqual([undefined, undefined]);
});
