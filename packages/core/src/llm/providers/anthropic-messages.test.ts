import { expect, test } from "vitest";
import {
  modelOver,
  noComplaints,
  PIXEL,
  PIXEL_DATA,
  readFile,
  reads,
  strict,
} from "../../../test/support/adapter-kit.ts";
import { answers, ask, callsOf, output, thinkingOf } from "../../../test/support/ask.ts";
import { collectReply } from "../../../test/support/collect-reply.ts";
import { readBoth, readingTurns } from "../../../test/support/conversation.ts";
import { modelMessage, userImage, userText } from "../../omnimessage/build.ts";
import type { OmniMessage, ThinkingPayload } from "../../omnimessage/message.ts";
import type { GenerativeModelConfig } from "../contract.ts";

const MARK = { cache_control: { type: "ephemeral" } };

const model = modelOver("anthropic-messages");

function call(tool_call_id: string, name: string, args = "{}"): OmniMessage {
  return modelMessage({ type: "tool_call", role: "assistant", name, arguments: args, tool_call_id });
}

function thought(thinking: string, fidelity: ThinkingPayload["fidelity"]): OmniMessage {
  return modelMessage({ type: "thinking", role: "assistant", thinking, ...(fidelity && { fidelity }) });
}

// Whole conversations with the strict server.

test("thinking, text and parallel calls come as segments, and go back unchanged (PC-004, PC-038, PC-040, PC-041, PC-051)", async () => {
  const server = await strict(readingTurns({ thinking: "I should look\n at both. ", redacted: true }));
  const first = await readBoth(model(server, { tools: [readFile], systemPrompt: "Be brief.", thinkingLevel: "low" }));
  expect(thinkingOf(first)).toEqual(["I should look\n at both. ", ""]);
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

test("thinking goes back from a history that was stored, redacted too, and through a change of the level (PC-011, PC-039, PC-041)", async () => {
  const tools = reads("a");
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
  const turn = { thinking: "t", tools: reads("a") };
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
    output("read", { output: " " }),
    output("call_1|fc_2.x", {
      output: "",
      images: [PIXEL, "data:image/tiff;base64,AAAA", "https://example.com/a.png"],
    }),
    userText("more"),
    call("read#2", "my tool.v2"),
    output("read#2", { output: "again" }),
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
  await ask(llm, output("read", { output: "second" }), output("read#2", { output: "first" }));
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
    llm.setHistory([userText("x"), call("a", "read_file"), output("a", { output: "1" }), call("b", "read_file")]);
    expect((await ask(llm, output("b", { output: "2" }), userText("and"))).outcome.status).toBe("completed");
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
  llm.setHistory([userText("x"), call("a", "read_file"), output("a", { output: "1" })]);
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
