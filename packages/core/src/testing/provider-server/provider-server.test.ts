import { connect } from "node:net";
import { expect, test } from "vitest";
import { CLIENT_TYPES, post } from "../../../test/support/post-request.ts";
import {
  SDK_KEY,
  SDK_REPLY,
  type SdkContent,
  sdkAnswers,
  sdkAssistant,
  sdkContent,
  sdkModel,
  sdkStream,
  sdkUser,
} from "../../../test/support/sdk-stream.ts";
import { type ProviderServerOptions, startProviderServer } from "./provider-server.ts";
import type { ProviderReply } from "./script.ts";

const go = sdkUser("go");

/** The content without ids and fidelity. */
function shown(content: SdkContent): unknown[] {
  return content.map((part) => {
    if (part.type === "tool-call") return [part.toolName, part.input];
    return part.type === "text" || part.type === "reasoning" ? [part.type, part.text] : [part.type];
  });
}

test.each(CLIENT_TYPES)("the provider's package reads a reply over %s as it was scripted", async (clientType) => {
  await using server = await startProviderServer({
    replies: [{ ...SDK_REPLY, usage: { cache_read: 7, cache_write: 20, output: 3 }, deltaCharacters: 3 }],
  });
  const parts = await sdkStream(sdkModel(server, clientType), [go]);
  expect(shown(sdkContent(parts))).toEqual([
    ["reasoning", SDK_REPLY.thinking],
    ["text", SDK_REPLY.text],
    ["read_file", { path: "a" }],
    ["read_file", { path: "b" }],
  ]);
  expect(parts.filter(({ type }) => type === "error")).toEqual([]);
  expect(parts.at(-1)).toMatchObject({
    type: "finish",
    finishReason: { unified: "tool-calls" },
    usage: { inputTokens: { total: 27, cacheRead: 7 }, outputTokens: { total: 3 } },
  });
});

test.each(CLIENT_TYPES)("what the package sends back over %s as it came is no problem", async (clientType) => {
  await using server = await startProviderServer({
    replies: [SDK_REPLY, { thinking: "Both there.", text: "Done." }, "Bye."],
  });
  const model = sdkModel(server, clientType);
  const first = sdkContent(await sdkStream(model, [go]));
  const prompt = [go, sdkAssistant(first), sdkAnswers(first)];
  const second = sdkContent(await sdkStream(model, prompt));
  await sdkStream(model, [...prompt, sdkAssistant(second), go]);
  expect(server.problems).toEqual([]);
  expect(server.requests.map((request) => request.clientType)).toEqual([clientType, clientType, clientType]);
});

test.each(CLIENT_TYPES)("the parts of a reply come over %s in their order and back in it", async (clientType) => {
  const call = (name: string) => ({ call: { name, args: {} } });
  await using server = await startProviderServer({
    replies: [{ parts: [{ thinking: "one" }, { text: "A" }, call("f"), { thinking: "two" }, call("g")] }, "Done."],
  });
  const model = sdkModel(server, clientType);
  const content = sdkContent(await sdkStream(model, [go]));
  const order = [
    ["reasoning", "one"],
    ["text", "A"],
    ["f", {}],
    ["reasoning", "two"],
    ["g", {}],
  ];
  // This package finishes calls at the end of the stream.
  const late = [...order.filter(([name]) => name !== "f" && name !== "g"), ["f", {}], ["g", {}]];
  expect(shown(content)).toEqual(clientType === "openai-chat" ? late : order);
  await sdkStream(model, [go, sdkAssistant(content), sdkAnswers(content)]);
  expect(server.problems).toEqual([]);
});

test("a function of the request answers it, as late as it likes, with what it sees in it", async () => {
  const replies: ProviderServerOptions["replies"] = async ({ model, clientType, body, headers }) => {
    await new Promise((resolve) => setImmediate(resolve));
    return `${clientType} ${model} ${Object.keys(body).length > 1} ${headers["x-api-key"] ?? headers.authorization ?? headers["x-goog-api-key"]}`;
  };
  await using server = await startProviderServer({ replies });
  for (const clientType of CLIENT_TYPES) {
    const [part] = sdkContent(await sdkStream(sdkModel(server, clientType), [go]));
    const model = {
      "openai-chat": "deepseek",
      "openai-responses": "gpt-5.1",
      "anthropic-messages": "claude-sonnet-4-5",
      google: "gemini-3-pro",
    }[clientType];
    expect(part).toMatchObject({ text: `${clientType} ${model} true [redacted]` });
  }
  expect(JSON.stringify(server.requests)).not.toContain(SDK_KEY);
});

test.each(CLIENT_TYPES)(
  "asked over %s for more than the script has, the server says how many it has",
  async (clientType) => {
    await using server = await startProviderServer({
      replies: ["one", { text: "two", faults: [{ kind: "heartbeats" }] }],
    });
    for (let i = 0; i < 3; i++) expect(await (await post(server, clientType)).text()).not.toBe("");
    const response = await post(server, clientType);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message: "the script has 2 replies and no more" } });
  },
);

test("a script that throws is an error that cannot be mended, and the server goes on", async () => {
  await using server = await startProviderServer({
    replies: ({ model }) => {
      if (model === "bad") throw new Error("no idea");
      return "fine";
    },
  });
  const response = await post(server, "openai-chat", { model: "bad", stream: true });
  expect([response.status, await response.json()]).toMatchObject([400, { error: { message: "no idea" } }]);
  expect(await (await post(server, "openai-chat")).text()).toContain("fine");
});

test("images are replies of google alone", async () => {
  const images = [{ data: "aGk=", mediaType: "image/png" }];
  await using server = await startProviderServer({
    replies: [{ thinking: "hm", images }, { images }, "seen", "and again"],
  });
  const model = sdkModel(server, "google");
  const content = sdkContent(await sdkStream(model, [go]));
  expect(content).toMatchObject([{ type: "reasoning" }, { type: "file", data: "aGk=", mediaType: "image/png" }]);
  expect(await (await post(server, "openai-chat")).json()).toMatchObject({
    error: { message: "the script has an image, and replies of this protocol hold none" },
  });
  await sdkStream(model, [go, sdkAssistant(content), go]);
  expect(server.problems).toEqual([]);
  await sdkStream(model, [go, sdkAssistant(content.slice(0, 1)), go]);
  expect(server.problems).toEqual(["request 4 (google): an image is missing"]);
});

test.each(CLIENT_TYPES)("over %s each finish reason is the protocol's own", async (clientType) => {
  const reasons = ["stop", "length", "content_filter", "other"] as const;
  await using server = await startProviderServer({
    replies: reasons.map((finishReason) => ({ text: "a", finishReason })),
  });
  const model = sdkModel(server, clientType);
  for (const reason of reasons) {
    expect((await sdkStream(model, [go])).at(-1)).toMatchObject({
      finishReason: { unified: reason.replace("_", "-") },
    });
  }
});

test("arguments may be text that is no JSON, and come as they are", async () => {
  const calls = [{ name: "f", args: '{"a": ' }];
  await using server = await startProviderServer({ replies: CLIENT_TYPES.map(() => ({ calls })) });
  for (const clientType of CLIENT_TYPES) {
    const parts = await sdkStream(sdkModel(server, clientType), [go]);
    const deltas = parts.flatMap((part) => (part.type === "tool-input-delta" ? [part.delta] : []));
    expect([clientType, deltas.join("")]).toEqual([clientType, '{"a": ']);
  }
});

test.each<[string, ProviderServerOptions["replies"]]>([
  ["deltaCharacters of a scripted reply must be an integer of at least 1, got 0", [{ text: "a", deltaCharacters: 0 }]],
  [
    "bytes of a scripted reply must be an integer of at least 1, got 0.5",
    [{ fault: { kind: "byte-chunks", bytes: 0.5 } }],
  ],
  [
    "afterEvents of a scripted reply must be an integer of at least 0, got -1",
    [{ faults: [{ kind: "silence", afterEvents: -1 }] }],
  ],
  [
    "atEvent of a scripted reply must be an integer of at least 0, got NaN",
    [{ fault: { kind: "bad-json", atEvent: Number.NaN } }],
  ],
])("no server starts where %s", async (message, replies) => {
  await expect(startProviderServer({ replies })).rejects.toThrow(new RangeError(message));
});

test("a misspelt word of a script starts no server, and is refused when a function gives it", async () => {
  const misspelt = { text: "x", fault: { kind: "http-eror" } } as unknown as ProviderReply;
  await expect(startProviderServer({ replies: [misspelt] })).rejects.toThrow(
    /^"http-eror" is no fault; known are http-error, reset, /,
  );
  const odd = { text: "x", toolCalls: [] } as unknown as ProviderReply;
  await expect(startProviderServer({ replies: [odd] })).rejects.toThrow('"toolCalls" is no key of a scripted reply');
  await using server = await startProviderServer({ replies: () => misspelt });
  expect((await post(server, "openai-chat")).status).toBe(400);
  expect(server.problems).toEqual([expect.stringContaining('request 1 (openai-chat): "http-eror" is no fault')]);
});

test("a request more than the script has replies is a problem of the test", async () => {
  await using server = await startProviderServer({ replies: ["the only one"] });
  await (await post(server, "google")).text();
  expect((await post(server, "google")).status).toBe(400);
  expect(server.problems).toEqual(["request 2 (google): the script has 1 reply and no more"]);
});

test.each(CLIENT_TYPES)("a request over %s that cannot be read is refused and takes no reply", async (clientType) => {
  await using server = await startProviderServer({ replies: ["the only one"] });
  for (const body of ["", "{", "[]", "null"]) {
    const response = await post(server, clientType, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message: "the body of the request is not a JSON object" } });
  }
  expect(server.requests).toEqual([]);
  const odd = {
    model: 7,
    stream: true,
    messages: [1, { role: "assistant", content: [null], tool_calls: {} }],
    input: [{ type: "reasoning" }, { role: "assistant" }],
    contents: [{ role: "model", parts: [{}, { functionCall: 1 }] }],
  };
  expect(await (await post(server, clientType, odd)).text()).toContain("the only one");
});

test("what is no endpoint is refused with the list of those that are, and a stream must be asked for", async () => {
  await using server = await startProviderServer({ replies: [] });
  const base = server.baseUrl("google");
  for (const [path, method] of [
    ["/", "POST"],
    ["//", "POST"],
    ["/v1/messages", "GET"],
    ["/v1/models", "GET"],
  ] as const) {
    const response = await fetch(base + path, { method });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: {
        message: `there is no ${method} ${path}; this server answers POST to /v1/chat/completions, /v1/responses, /v1/messages, /v1beta/models/MODEL:streamGenerateContent`,
      },
    });
  }
  const whole = await fetch(`${base}/v1beta/models/m:generateContent`, { method: "POST", body: "{}" });
  expect(await whole.json()).toMatchObject({ error: { message: "this server streams; ask for a stream" } });
  const broken = await fetch(`${base}/v1beta/models/%ff:streamGenerateContent`, { method: "POST", body: "{}" });
  expect([broken.status, await broken.json()]).toMatchObject([400, { error: { message: "URI malformed" } }]);
  expect(server.requests).toEqual([]);
});

test("a client that breaks off inside of its request, or is gone when the script answers, harms nobody", async () => {
  const waiting: (() => void)[] = [];
  const server = await startProviderServer({
    replies: () => new Promise((resolve) => waiting.push(() => resolve({ text: "late", fault: { kind: "crlf" } }))),
  });
  const { port } = new URL(server.baseUrl("google"));
  const socket = connect(Number(port), "127.0.0.1");
  socket.write("POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{");
  await new Promise<void>((resolve) => socket.end(() => resolve()));

  const leaving = new AbortController();
  const left = post(server, "openai-chat", undefined, { signal: leaving.signal });
  while (waiting.length < 1) await new Promise((resolve) => setImmediate(resolve));
  leaving.abort();
  await expect(left).rejects.toThrow();
  while (!server.requests[0]?.aborted) await new Promise((resolve) => setImmediate(resolve));
  const closed = post(server, "openai-chat");
  while (waiting.length < 2) await new Promise((resolve) => setImmediate(resolve));
  waiting[0]?.();
  await server.close();
  await expect(closed).rejects.toThrow();
  waiting[1]?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect(server.requests.map(({ aborted }) => aborted)).toEqual([true, false]);
});
