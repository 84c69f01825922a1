import { expect, test, vi } from "vitest";
import {
  modelOver,
  noComplaints,
  PIXEL,
  PIXEL_DATA,
  raw,
  readFile,
  reads,
  strict,
} from "../../../test/support/adapter-kit.ts";
import { answers, ask, callsOf, output, textOf, thinkingOf } from "../../../test/support/ask.ts";
import { type CollectedReply, collectReply } from "../../../test/support/collect-reply.ts";
import { readBoth, readingTurns } from "../../../test/support/conversation.ts";
import { assistantText, modelMessage, userImage, userText } from "../../omnimessage/build.ts";
import type { GenerativeModelConfig, ThinkingLevelName } from "../contract.ts";
import type { Fidelity } from "../segment-fidelity.ts";

const GIF = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=";
const MISLABELLED = PIXEL.replace("png", "jpeg");
const STAND_IN = "context_engineering_is_the_way_to_go";

const model = modelOver("google", { thinkingLevel: "medium" });

function sse(...events: unknown[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

/** One event with these parts. */
function said(...parts: object[]): object {
  return { candidates: [{ content: { role: "model", parts }, index: 0 }] };
}

const STOP = { candidates: [{ finishReason: "STOP", index: 0 }] };

/** A whole reply, a part an event. */
function reply(...parts: object[]): string {
  return sse(...parts.map((part) => said(part)), STOP);
}

// Whole conversations with the strict server.

test.each(["gemini-3-flash", "gemini-3-pro-preview", "gemini-2.5-pro", "gemini-2.5-flash", "gemini-flash-latest"])(
  "thinking, text and parallel calls of %s come as segments and go back unchanged (PC-004, PC-038, PC-040, PC-051, PC-106)",
  async (modelId) => {
    const server = await strict(readingTurns());
    const first = await readBoth(model(server, { modelId, tools: [readFile], systemPrompt: "Be brief." }));
    expect(thinkingOf(first)).toEqual(["I should look at both."]);
    const { contents, tools: offered, toolConfig, systemInstruction } = server.log[2]?.body ?? {};
    expect(offered).toHaveLength(1);
    expect(toolConfig).toBeUndefined();
    expect(systemInstruction).toEqual({ parts: [{ text: "Be brief." }] });
    expect(contents).toMatchObject([
      { role: "user", parts: [{ text: "go" }] },
      {
        role: "model",
        parts: [
          { text: "Reading." },
          { functionCall: { name: "read_file", args: { path: "a" } }, thoughtSignature: expect.any(String) },
          { functionCall: { name: "read_file", args: { path: "é🙂" } } },
        ],
      },
      { role: "user", parts: [{ functionResponse: { name: "read_file" } }, { functionResponse: {} }] },
      { role: "model", parts: [{ text: "Both read." }] },
      { role: "user", parts: [{ text: "sure?" }] },
    ]);
    expect(contents[1].parts[2].thoughtSignature).toBeUndefined();
    noComplaints(server);
  },
);

test("a conversation goes on from stored messages with every signature and id as it was (PC-039, PC-041)", async () => {
  const tools = reads("a", "b");
  const server = await strict([{ thinking: "hm", text: "so", tools }, "done", "still"]);
  const config = { tools: [readFile] };
  const llm = model(server, config);
  const first = await ask(llm);
  const outputs = answers(first);
  const second = await ask(llm, ...outputs);
  const history = [
    userText("go"),
    ...first.complete.map(modelMessage),
    ...outputs,
    ...second.complete.map(modelMessage),
  ];
  const resumed = model(server, config);
  resumed.setHistory(JSON.parse(JSON.stringify(history)));
  await ask(llm, userText("and?"));
  await ask(resumed, userText("and?"));
  expect(server.log[3]?.body).toEqual(server.log[2]?.body);
  noComplaints({ ...server, violations: server.violations.filter(({ rule }) => rule !== "script/exhausted") });
});

// Images and files.

test("images in outputs stand inside them on Gemini 3", async () => {
  const tools = reads("a", "b");
  const server = await strict([{ tools }, "seen"]);
  const llm = model(server, { tools: [readFile] });
  const got = await ask(llm, userText("compare"), userImage(PIXEL));
  expect((await ask(llm, ...answers(got, { images: [PIXEL, GIF] }))).outcome.status).toBe("completed");
  const { contents } = server.log[1]?.body ?? {};
  expect(contents[0].parts).toEqual([{ text: "compare" }, { inlineData: { mimeType: "image/png", data: PIXEL_DATA } }]);
  expect(contents).toHaveLength(3);
  expect(contents[2].parts).toMatchObject(
    callsOf(got).map(({ tool_call_id: id }) => ({
      functionResponse: {
        id,
        name: "read_file",
        response: {
          content: "output of read_file\n[an image could not be sent: it is no png, jpeg or webp image]",
        },
        parts: [{ inlineData: { mimeType: "image/png", data: PIXEL_DATA } }],
      },
    })),
  );
  noComplaints(server);
});

test("images in outputs follow them on older models, each call's under its name and place", async () => {
  const tools = reads("a", "b");
  const server = await strict([{ tools }, "seen"]);
  const llm = model(server, { modelId: "gemini-2.5-pro", tools: [readFile] });
  const [first, second] = answers(await ask(llm), { images: [PIXEL] });
  if (!first || !second) throw new Error("two calls were scripted");
  expect((await ask(llm, first, second, userText("well?"))).outcome.status).toBe("completed");
  const image = { inlineData: { mimeType: "image/png", data: PIXEL_DATA } };
  const { contents } = server.log[1]?.body ?? {};
  expect(contents[2].parts).toMatchObject([{ functionResponse: {} }, { functionResponse: {} }]);
  expect(contents.slice(3)).toEqual([
    {
      role: "user",
      parts: [
        { text: "Images in the output of read_file (call 1 of 2):" },
        image,
        { text: "Images in the output of read_file (call 2 of 2):" },
        image,
      ],
    },
    { role: "user", parts: [{ text: "well?" }] },
  ]);
  noComplaints(server);
});

test("images go under the type that bytes or name show; what is no image that is taken becomes a text that says so", async () => {
  const server = await strict([{ tools: [{ name: "read_file", args: {} }] }, "seen"]);
  const llm = model(server, { tools: [readFile] });
  const got = await ask(
    llm,
    userImage("https://example.com/a.png"),
    userImage(GIF),
    userImage(MISLABELLED),
    userText(""),
  );
  await ask(llm, ...answers(got, { images: ["https://example.com/b"] }));
  const { contents } = server.log[1]?.body ?? {};
  expect(contents[0].parts).toEqual([
    { fileData: { mimeType: "image/png", fileUri: "https://example.com/a.png" } },
    { text: "[an image could not be sent: it is no png, jpeg or webp image]" },
    { inlineData: { mimeType: "image/png", data: PIXEL_DATA } },
  ]);
  expect(contents[3].parts).toEqual([
    { text: "Images in the output of read_file:" },
    { fileData: { mimeType: "image/jpeg", fileUri: "https://example.com/b" } },
  ]);
  noComplaints(server);
});

test("the oldest images make room where a request would be too large, no more than must, and stay texts", async () => {
  const server = await strict(["1", "2"]);
  const llm = model(server);
  const images = Array.from({ length: 3 }, (_, i) => bigPixel(5_000_000 + i));
  const [first, ...others] = images.map((data) => userImage(`data:image/png;base64,${data}`));
  llm.setHistory([first, assistantText("0")].filter((message) => message !== undefined));
  expect((await ask(llm, ...others)).outcome.status).toBe("completed");
  expect((await ask(llm, userText("well?"))).outcome.status).toBe("completed");
  const [before, after] = server.log.map(({ body }) => body.contents);
  const gone = "[a file could not be sent: the request would be larger than the 20 MB that the service takes]";
  expect(before[0].parts).toEqual([{ text: gone }]);
  expect(imagesIn(before).map((data) => images.indexOf(data))).toEqual([1, 2]);
  expect(JSON.stringify(after.slice(0, before.length)) === JSON.stringify(before)).toBe(true);
  noComplaints(server);
});

test("images inside outputs make room too, and one that no request has room for", async () => {
  const server = await strict([{ tools: reads("a") }, "1"]);
  const llm = model(server, { tools: [readFile] });
  const got = await ask(llm);
  const [small, large] = [bigPixel(1_000_000), bigPixel(16_000_000)].map((data) => `data:image/png;base64,${data}`);
  const images = [large, small].filter((image) => image !== undefined);
  expect((await ask(llm, ...answers(got, { images }))).outcome.status).toBe("completed");
  const { response, parts } = server.log[1]?.body.contents[2].parts[0].functionResponse ?? {};
  expect(response.content).toContain("[a file could not be sent: the request would be larger than the 20 MB");
  expect(parts).toHaveLength(1);
  noComplaints(server);
});

/** A PNG of about so many bytes, in base64. */
function bigPixel(bytes: number): string {
  return Buffer.concat([Buffer.from(PIXEL_DATA, "base64"), Buffer.alloc(bytes)]).toString("base64");
}

// biome-ignore lint/suspicious/noExplicitAny: the body of a request as it came over the wire.
function imagesIn(contents: any[]): string[] {
  return contents.flatMap(({ parts }) => parts).flatMap((part) => (part.inlineData ? [part.inlineData.data] : []));
}

test("an image in a reply is a message, and goes back with its signature (PC-041)", async () => {
  const inlineData = { mimeType: "image/png", data: PIXEL_DATA };
  const body = reply({ text: "Here:" }, { inlineData, thoughtSignature: "c2ln" }, { text: "Good?" });
  const server = await raw({ body });
  const llm = model(server, { modelId: "gemini-3-pro-image-preview" });
  const got = await ask(llm);
  expect(got.complete).toMatchObject([
    { type: "text", text: "Here:" },
    { type: "inline_data", mime_type: "image/png", data: PIXEL_DATA },
    { type: "text", text: "Good?" },
  ]);
  await ask(llm, userText("yes"));
  expect(server.bodies[1].contents[1].parts).toEqual([
    { text: "Here:" },
    { inlineData, thoughtSignature: "c2ln" },
    { text: "Good?" },
  ]);
  expect(server.bodies[0].generationConfig).toEqual({ responseModalities: ["TEXT", "IMAGE"] });
});

// Signatures.

test("only the first of parallel calls is signed, none has an id, and both go back in one content (PC-041, PC-048)", async () => {
  const body =
    'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Let me look","thought":true}]}}]}\r\n\r\n' +
    'data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"read_file","args":{"file_path":"a"}},"thoughtSignature":"c2lnQQ=="}]}}]}\r\n\r\n' +
    'data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"read_file","args":{"file_path":"b"}}}]}}]}\r\n\r\n' +
    'data: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":12,"thoughtsTokenCount":7}}\r\n\r\n';
  for (const bytesPerWrite of [1, 7, body.length]) {
    const server = await raw({ body, bytesPerWrite });
    const llm = model(server);
    const got = await ask(llm);
    expect(got.outcome).toEqual({ status: "completed", finishReason: "tool_calls" });
    expect(got.complete).toMatchObject([
      { type: "thinking", thinking: "Let me look" },
      { name: "read_file", arguments: '{"file_path":"a"}' },
      { name: "read_file", arguments: '{"file_path":"b"}' },
    ]);
    expect(got.usage?.request).toEqual({ cache_read: 0, cache_write: 50, output: 19, total: 69 });
    expect(new Set(callsOf(got).map((call) => call.tool_call_id)).size).toBe(2);
    await ask(llm, ...answers(got));
    expect(server.bodies[1].contents.slice(1)).toEqual([
      {
        role: "model",
        parts: [
          { functionCall: { name: "read_file", args: { file_path: "a" } }, thoughtSignature: "c2lnQQ==" },
          { functionCall: { name: "read_file", args: { file_path: "b" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "read_file", response: expect.any(Object) } },
          { functionResponse: { name: "read_file", response: expect.any(Object) } },
        ],
      },
    ]);
  }
});

test.each<[string, object[], object[], object[]]>([
  [
    "on an empty text behind a text goes back on the text",
    [{ text: "a" }, { text: "b" }, { text: "", thoughtSignature: "c2ln" }],
    [{ type: "text", text: "ab" }],
    [{ text: "ab", thoughtSignature: "c2ln" }],
  ],
  [
    "on an empty text behind thinking stays apart",
    [
      { text: "hm", thought: true },
      { text: "", thoughtSignature: "c2ln" },
    ],
    [
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "" },
    ],
    [{ text: "", thoughtSignature: "c2ln" }],
  ],
  [
    "on empty thinking goes back on the thinking",
    [{ text: "hm", thought: true }, { text: "", thought: true, thoughtSignature: "c2ln" }, { text: "so" }],
    [
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "so" },
    ],
    [{ text: "hm", thought: true, thoughtSignature: "c2ln" }, { text: "so" }],
  ],
  [
    "on a part without data stays apart",
    [{ functionCall: { name: "t", args: {} }, thoughtSignature: "QQ==" }, { thoughtSignature: "Qg==" }],
    [
      { type: "tool_call", name: "t" },
      { type: "text", text: "" },
    ],
    [
      { functionCall: { name: "t", args: {} }, thoughtSignature: "QQ==" },
      { text: "", thoughtSignature: "Qg==" },
    ],
  ],
  [
    "on a text ends it",
    [{ text: "a", thoughtSignature: "QQ==" }, { text: "b" }, { text: "c", thoughtSignature: "Qg==" }, { text: "d" }],
    [
      { type: "text", text: "a" },
      { type: "text", text: "bc" },
      { type: "text", text: "d" },
    ],
    [{ text: "a", thoughtSignature: "QQ==" }, { text: "bc", thoughtSignature: "Qg==" }, { text: "d" }],
  ],
])("a signature %s (PC-041, PC-042, PC-045)", async (_, parts, messages, sent) => {
  for (const body of [reply(...parts), sse(said(...parts), STOP)]) {
    const server = await raw({ body });
    const llm = model(server);
    const got = await ask(llm);
    expect(got.complete).toMatchObject(messages);
    await ask(llm, ...(callsOf(got).length > 0 ? answers(got) : [userText("next")]));
    expect(server.bodies[1].contents[1].parts).toEqual(sent);
  }
});

test("text and calls of one event keep their order, which the package does not", async () => {
  const parts = [
    { functionCall: { name: "a", args: {} }, thoughtSignature: "QQ==" },
    { text: "between" },
    { functionCall: { name: "b", args: {} } },
  ];
  const server = await raw({ body: sse(said(...parts), STOP) });
  const got = await ask(model(server));
  expect(got.complete).toMatchObject([{ name: "a" }, { text: "between" }, { name: "b" }]);
});

// Histories of other protocols.

const foreign = [
  userText("go"),
  modelMessage({
    type: "thinking",
    role: "assistant",
    thinking: "secret",
    fidelity: { anthropic: { signature: "s" } },
  }),
  modelMessage({ type: "text", role: "assistant", text: "Look.", fidelity: { openai: { itemId: "msg_1" } } }),
  modelMessage({ type: "text", role: "assistant", text: "", fidelity: { openai: { itemId: "msg_2" } } }),
  modelMessage({
    type: "tool_call",
    role: "assistant",
    name: "my tool.v2",
    arguments: '{"a":1}',
    tool_call_id: "toolu|1/x",
    fidelity: { openai: { itemId: "fc_1" } },
  }),
  modelMessage({ type: "tool_call", role: "assistant", name: "", arguments: "[1]", tool_call_id: "call_2" }),
];
const outputs = [output("call_2", { images: [PIXEL] }), output("toolu|1/x")];

test.each(["gemini-3-flash", "gemini-2.5-pro", "gemma-3-27b-it", "unknown"])(
  "%s takes a history of other protocols: names made legal, ids left out, thinking left behind",
  async (modelId) => {
    const server = await strict(["ok", "ok"]);
    const llm = model(server, { modelId });
    llm.setHistory(foreign);
    expect((await ask(llm, ...outputs)).outcome.status).toBe("completed");
    const { contents } = server.log[0]?.body ?? {};
    const text = JSON.stringify(contents);
    for (const word of ["secret", "msg_1", "fc_1", "toolu", "call_2", "skip_thought"]) expect(text).not.toContain(word);
    const { parts } = contents[1];
    expect(parts).toMatchObject([
      { text: "Look." },
      { functionCall: { name: expect.stringMatching(/^my_tool_v2_\w{8}$/), args: { a: 1 } } },
      { functionCall: { name: expect.stringMatching(/^_+\w{8}$/), args: {} } },
    ]);
    expect(contents[2].parts.map((part: { functionResponse: { name: string } }) => part.functionResponse.name)).toEqual(
      [parts[1].functionCall.name, parts[2].functionCall.name],
    );
    expect(server.violations).toEqual([]);
  },
);

test("a foreign call has the documented stand-in where the service insists: first of its step, in the current turn, on Gemini 3", async () => {
  const server = await strict(["ok", "ok"]);
  const llm = model(server);
  llm.setHistory(foreign);
  await ask(llm, ...outputs);
  expect(signaturesIn(server.log[0]?.body)).toEqual([undefined, STAND_IN, undefined]);
  expect(server.warnings.map(({ rule }) => rule)).toEqual(["gemini/signature-dummy"]);
  await ask(llm, userText("a new turn"));
  expect(signaturesIn(server.log[1]?.body)).toEqual([undefined, undefined, undefined]);
  expect(server.warnings).toHaveLength(1);

  const older = model(server, { modelId: "gemini-2.5-pro" });
  older.setHistory(foreign);
  await ask(older, ...outputs);
  expect(signaturesIn(server.log[2]?.body)).toEqual([undefined, undefined, undefined]);
  expect(server.violations.filter(({ rule }) => rule !== "script/exhausted")).toEqual([]);
});

// biome-ignore lint/suspicious/noExplicitAny: the body of a request as it came over the wire.
function signaturesIn(body: any): unknown[] {
  return body.contents[1].parts.map((part: { thoughtSignature?: string }) => part.thoughtSignature);
}

test("a user's text of nothing is said to be empty, or left out beside a file", async () => {
  const server = await strict(["ok"]);
  const llm = model(server);
  llm.setHistory([userText(" "), modelMessage({ type: "text", role: "assistant", text: "What?" })]);
  await ask(llm, userText("\n"), userImage(PIXEL));
  expect(server.log[0]?.body.contents.map(({ parts }: { parts: object[] }) => parts)).toEqual([
    [{ text: "[empty message]" }],
    [{ text: "What?" }],
    [{ inlineData: { mimeType: "image/png", data: PIXEL_DATA } }],
  ]);
  noComplaints(server);
});

test("the package prints nothing, and warns of nothing, about a history that it finds strange", async () => {
  const printed = (["log", "info", "warn", "error", "debug"] as const).map((name) => vi.spyOn(console, name));
  const server = await strict(["ok"]);
  const llm = model(server, { tools: [readFile], maxTokens: 100 });
  llm.setHistory(foreign);
  expect((await ask(llm, ...outputs)).outcome.status).toBe("completed");
  for (const spy of printed) expect(spy).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

// Calls.

test("ids that the service gave go back on call and output, those it did not give stay behind (PC-048, PC-049, PC-050)", async () => {
  const call = (id?: string): object => ({ functionCall: { ...(id !== undefined && { id }), name: "read", args: {} } });
  const server = await raw({ body: reply(call("read"), call(), call("")) });
  const llm = model(server, { modelId: "gemini-2.5-pro" });
  const first = await ask(llm);
  const second = await ask(llm, ...answers(first));
  await ask(llm, ...answers(second));
  expect(callsOf(first)[0]?.tool_call_id).toBe("read");
  expect(callsOf(second)[0]?.tool_call_id).toBe("read#2");
  expect(new Set([...callsOf(first), ...callsOf(second)].map((each) => each.tool_call_id)).size).toBe(6);
  for (const at of [1, 3]) {
    const { contents } = server.bodies[2];
    const idsIn = (index: number, name: string): unknown[] =>
      contents[index].parts.map((part: Record<string, { id?: string }>) => part[name]?.id);
    expect(idsIn(at, "functionCall")).toEqual(["read", undefined, undefined]);
    expect(idsIn(at + 1, "functionResponse")).toEqual(["read", undefined, undefined]);
  }
});

test("an id goes back as the service gave it from a history that has lost the one it was told from (PC-039, PC-049)", async () => {
  const server = await raw({ body: reply({ text: "ok" }) });
  const call = { type: "tool_call", role: "assistant", name: "read", arguments: "{}" } as const;
  const llm = model(server);
  llm.setHistory([
    userText("go"),
    modelMessage({ ...call, tool_call_id: "read#2", fidelity: { google: { callId: "read" } } }),
    modelMessage({ ...call, tool_call_id: "x", fidelity: { google: { callId: "x" } } }),
    modelMessage({ ...call, tool_call_id: "x#2", fidelity: { google: { callId: "x#2" } } }),
  ]);
  await ask(llm, output("read#2"), output("x"), output("x#2"));
  const { contents } = server.bodies[0];
  const ids = ["read", "x", "x#2"];
  expect(contents[1].parts.map((part: { functionCall: { id: string } }) => part.functionCall.id)).toEqual(ids);
  expect(contents[2].parts.map((part: { functionResponse: { id: string } }) => part.functionResponse.id)).toEqual(ids);
});

test.each<[string, string, string, object]>([
  ["no arguments", '{"name":"t"}', "{}", {}],
  ["null for arguments", '{"name":"t","args":null}', "{}", {}],
  ["no name", '{"args":{"a":1}}', '{"a":1}', { a: 1 }],
  ["arguments that look like an attack", '{"name":"t","args":{"__proto__":{"x":1}}}', '{"__proto__":{"x":1}}', {}],
  ["a list for arguments", '{"name":"t","args":[1]}', "[1]", {}],
])("a call with %s reaches the engine and goes back", async (_, call, argumentsText, sent) => {
  const body = `data: {"candidates":[{"content":{"parts":[{"functionCall":${call}}]}}]}\n\n${reply()}`;
  const server = await raw({ body }, { body: reply({ text: "ok" }) });
  const llm = model(server);
  const got = await ask(llm);
  expect(got.outcome.status).toBe("completed");
  expect(callsOf(got)).toMatchObject([{ arguments: argumentsText, stop_reason: "completed" }]);
  expect((await ask(llm, ...answers(got))).outcome.status).toBe("completed");
  const { functionCall } = server.bodies[1].contents[1].parts[0];
  expect(functionCall.args).toEqual(argumentsText.includes("__proto__") ? JSON.parse(argumentsText) : sent);
  expect(functionCall.name).toMatch(/^[A-Za-z_]\w*$/);
});

test("arguments nested however deeply are committed and go back, as nothing where the service would not read them", async () => {
  for (const [depth, sent] of [
    [20, true],
    [300, false],
    [100_000, false],
  ] as const) {
    const deep = `{"x":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    const body = `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":${deep}}}]}}]}\n\n${reply()}`;
    const server = await raw({ body }, { body: reply({ text: "ok" }) });
    const llm = model(server);
    const got = await ask(llm);
    expect(got.outcome.status).toBe("completed");
    expect((await ask(llm, ...answers(got))).outcome.status).toBe("completed");
    expect(JSON.stringify(server.bodies[1].contents[1].parts[0].functionCall.args)).toBe(sent ? deep : "{}");
  }
});

test("arguments that come in pieces, as other Google services stream them, are put together", async () => {
  const pieces = [
    { functionCall: { name: "t", id: "c1", willContinue: true }, thoughtSignature: "QQ==" },
    {
      functionCall: { partialArgs: [{ jsonPath: "$.path", stringValue: "a", willContinue: true }], willContinue: true },
    },
    { functionCall: { partialArgs: [{ jsonPath: "$.path", stringValue: "é" }], willContinue: true } },
    { functionCall: {} },
  ];
  const body = reply(...pieces);
  const got = await ask(model(await raw({ body, bytesPerWrite: 5 })));
  expect(callsOf(got)).toMatchObject([
    { name: "t", tool_call_id: "c1", arguments: '{"path":"aé"}', stop_reason: "completed" },
  ]);
  expect(callsOf(got)[0]?.fidelity).toEqual({ google: { thoughtSignature: "QQ==", callId: "c1" } });
});

test("the output limit marks the last call, and it goes back with {}", async () => {
  const call = (path: string): object => ({ functionCall: { name: "t", args: { path } }, thoughtSignature: "QQ==" });
  const body = sse(said(call("a")), said(call("b")), { candidates: [{ finishReason: "MAX_TOKENS" }] });
  const server = await raw({ body }, { body: reply({ text: "ok" }) });
  const llm = model(server);
  const got = await ask(llm);
  expect(got.outcome).toEqual({ status: "completed", finishReason: "length" });
  expect(callsOf(got)).toMatchObject([{ stop_reason: "completed" }, { stop_reason: "malformed" }]);
  await ask(llm, ...answers(got));
  expect(
    server.bodies[1].contents[1].parts.map((part: { functionCall: { args: object } }) => part.functionCall.args),
  ).toEqual([{ path: "a" }, {}]);
});

test.each(["gemini-3-flash", "gemini-2.5-pro"])(
  "a call of %s that goes back without its arguments leaves its signature behind, which is for them",
  async (modelId) => {
    const tools = reads("a");
    const server = await strict([
      { thinking: "hm", tools, finish: "length" },
      { tools: [{ name: "read_file" }] },
      "ok",
    ]);
    const llm = model(server, { modelId, tools: [readFile] });
    const cut = await ask(llm);
    expect(callsOf(cut)).toMatchObject([{ stop_reason: "malformed" }]);
    const whole = await ask(llm, ...answers(cut));
    expect((await ask(llm, ...answers(whole))).outcome.status).toBe("completed");
    const calls = server.log[2]?.body.contents.flatMap(({ parts }: { parts: { functionCall?: object }[] }) =>
      parts.filter((part) => part.functionCall),
    );
    expect(calls.map((part: { functionCall: { args: object } }) => part.functionCall.args)).toEqual([{}, {}]);
    const issued = (reply: CollectedReply): unknown =>
      (callsOf(reply)[0]?.fidelity as Fidelity | undefined)?.google?.thoughtSignature;
    expect(issued(cut)).toEqual(expect.any(String));
    expect(calls.map((part: { thoughtSignature?: string }) => part.thoughtSignature)).toEqual([
      modelId === "gemini-3-flash" ? STAND_IN : undefined,
      issued(whole),
    ]);
    expect(server.violations).toEqual([]);
  },
);

test("a reply that the service continues by a token is one reply", async () => {
  const first = sse(said({ text: "one " }), {
    candidates: [{ finishReason: "CONTINUATION", continuationToken: "next" }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1 },
  });
  const second = sse(said({ text: "two" }), { ...STOP, usageMetadata: { candidatesTokenCount: 2 } });
  const server = await raw({ body: first }, { body: second });
  const got = await ask(model(server));
  expect(got.outcome).toEqual({ status: "completed", finishReason: "stop" });
  expect(textOf(got)).toBe("one two");
  expect(got.usage?.request.total).toBe(8);
  expect(server.bodies.map((body) => body.continuationToken)).toEqual([undefined, "next"]);
});

test("a tool whose name the protocol does not take is offered under another and called by its own (PC-031)", async () => {
  const names = ["1 tool.v2", "1_tool.v2", "x".repeat(80), "日本"];
  const tools = names.map((name) => ({ ...readFile, name }));
  const server = await strict([
    (request: { tools: string[] }) => ({ tools: request.tools.map((name) => ({ name, args: {} })) }),
    "ok",
  ]);
  const llm = model(server, { tools });
  const got = await ask(llm);
  expect(callsOf(got).map(({ name }) => name)).toEqual(names);
  expect((await ask(llm, ...answers(got))).outcome.status).toBe("completed");
  noComplaints(server);
});

test("a call by a name that cannot go back goes back under another without its signature, and the conversation goes on", async () => {
  const call = { name: "default_api:look", args: { path: "a" } };
  const server = await strict([{ tools: [call, ...reads("b")] }, "ok", "ok"]);
  const llm = model(server, { tools: [readFile] });
  const got = await ask(llm);
  expect(callsOf(got).map(({ name }) => name)).toEqual(["default_api:look", "read_file"]);
  expect((await ask(llm, ...answers(got))).outcome.status).toBe("completed");
  expect((await ask(llm, userText("next"))).outcome.status).toBe("completed");
  expect(server.log.slice(1).map(({ body }) => signaturesIn(body))).toEqual([
    [STAND_IN, undefined],
    [undefined, undefined],
  ]);
  expect(server.violations).toEqual([]);
});

// What goes out.

test.each<[string, ThinkingLevelName | undefined, object | undefined]>([
  ["gemini-3-flash-preview", "none", { includeThoughts: false, thinkingLevel: "minimal" }],
  ["gemini-3-flash-preview", "medium", { includeThoughts: true, thinkingLevel: "medium" }],
  ["gemini-3-flash-preview", undefined, { includeThoughts: true }],
  ["gemini-3-pro-preview", "none", { includeThoughts: false, thinkingLevel: "low" }],
  ["gemini-3-pro-preview", "medium", { includeThoughts: true, thinkingLevel: "high" }],
  ["models/gemini-3.1-pro-preview", "medium", { includeThoughts: true, thinkingLevel: "medium" }],
  ["gemini-3.8-flash", "none", { includeThoughts: false, thinkingLevel: "low" }],
  ["gemini-4-argon", "xhigh", { includeThoughts: true, thinkingLevel: "high" }],
  ["gemini-2.5-pro", "none", { includeThoughts: false, thinkingBudget: 128 }],
  ["gemini-2.5-pro", "xhigh", { includeThoughts: true, thinkingBudget: 32768 }],
  ["gemini-2.5-flash", "none", { includeThoughts: false, thinkingBudget: 0 }],
  ["gemini-2.5-flash", "low", { includeThoughts: true, thinkingBudget: 2048 }],
  ["gemini-2.5-flash-lite", "xhigh", { includeThoughts: true, thinkingBudget: 24576 }],
  ["gemini-2.5-flash-lite", undefined, undefined],
  ["gemini-2.5-flash-image", "high", undefined],
  ["gemini-2.0-flash", "high", undefined],
  ["gemini-flash-latest", "high", { includeThoughts: true, thinkingBudget: 24576 }],
  ["gemini-pro-latest", "none", { includeThoughts: false }],
  ["gemini-exp-1206", "high", undefined],
  ["gemma-3-27b-it", "high", undefined],
  ["some-model", "high", undefined],
])("%s is told to think %s as it takes it (PC-011, PC-034, PC-035)", async (modelId, level, config) => {
  const server = await strict([{ text: "ok" }]);
  const llm = model(server, { modelId, thinkingLevel: "low" });
  const wanted = level === undefined ? model(server, { modelId, ...without }) : llm;
  await collectReply(wanted, { newMessages: [userText("go")], ...(level && { thinkingLevel: level }) });
  expect(server.log[0]?.body.generationConfig.thinkingConfig).toEqual(config);
  noComplaints(server);
});
const without = { thinkingLevel: undefined } as unknown as Partial<GenerativeModelConfig>;

test("the key goes in Google's header, the cap as maxOutputTokens, and a lone surrogate as U+FFFD", async () => {
  const server = await strict(["ok"]);
  const tool = {
    ...readFile,
    description: "Lone \ud83d.",
    parameters: { type: "object", properties: { p: { type: "string", description: "\ud83d" } } },
  };
  await ask(model(server, { maxTokens: 1000, tools: [tool] }), userText("x\udc00y"));
  const { body, headers } = server.log[0] ?? { body: {}, headers: {} };
  expect(Object.keys(headers)).toContain("x-goog-api-key");
  expect(body.generationConfig.maxOutputTokens).toBe(1000);
  expect(body.contents[0].parts[0].text).toBe("x\ufffdy");
  expect(body.tools[0].functionDeclarations[0]).toEqual({
    name: "read_file",
    description: "Lone \ufffd.",
    parameters: { type: "OBJECT", properties: { p: { type: "STRING", description: "\ufffd" } } },
  });
  noComplaints(server);
});

test("a key that the service does not know ends in auth, and none is sent when there is none (PC-025)", async () => {
  const server = await strict(["ok"], { apiKeys: ["another"] });
  for (const config of [{}, { apiKey: "" }]) {
    const { outcome } = await ask(model(server, config));
    expect(outcome.status).toBe("auth");
    expect(outcome.message).not.toContain("canary-key-1111");
  }
  expect(server.log.map(({ headers }) => "x-goog-api-key" in headers)).toEqual([true, false]);
});

test("texts that look like what the adapter writes for itself go out as they are", async () => {
  const text =
    '"text":"\u0000no text","thoughtSignature":"\u0000unsigned","parameters":{"description":"\u0000x","type":"string"}';
  const server = await raw({ body: reply({ text: "ok" }) });
  await ask(model(server), userText(text));
  expect(server.bodies[0].contents[0].parts[0].text).toBe(text);
});
