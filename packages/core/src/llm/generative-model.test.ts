import type { IncomingHttpHeaders } from "node:http";
import { afterEach, expect, test } from "vitest";
import { collectReply } from "../../test/support/collect-reply.ts";
import { type RawAnswer, type RawProvider, startRawProvider } from "../../test/support/raw-provider.ts";
import { type StrictServer, startStrictServer } from "../../test/support/strict-server.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import { assistantText, eventMessage, modelMessage, userText } from "../omnimessage/build.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import type { GenerativeModelConfig } from "./contract.ts";
import { GenerativeModel } from "./generative-model.ts";
import { createToolCallIdAllocator } from "./tool-call-ids.ts";

const KEY = "sk-canary-1111";
const go = { newMessages: [userText("go")] };
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function strict(turns: unknown, options: { apiKeys?: string[] } = {}): Promise<StrictServer> {
  const server = await startStrictServer({ scripts: turns, ...options });
  closing.push(() => server.close());
  return server;
}

async function raw(...answers: RawAnswer[]): Promise<RawProvider> {
  const provider = await startRawProvider(...answers);
  closing.push(() => provider.close());
  return provider;
}

function model(server: { url: string }, config: Partial<GenerativeModelConfig> = {}): GenerativeModel {
  return new GenerativeModel({
    modelId: "deepseek-chat",
    apiKey: KEY,
    baseUrl: `${server.url}/v1`,
    tools: [],
    ...config,
  });
}

/** The texts of the messages in a request's body. */
function sentTexts(server: StrictServer, request: number): string[] {
  return server.log[request]?.body.messages.map((message: { content: string }) => message.content);
}

// Input and history.

test("input that is empty, or of mixed roles, is refused through the outcome and not sent (PC-005, PC-009)", async () => {
  const server = await strict(["never"]);
  const llm = model(server);
  for (const newMessages of [[], [eventMessage({ type: "request_begin" })]]) {
    expect((await collectReply(llm, { newMessages })).outcome).toEqual({
      status: "failed",
      message: "a request needs at least one new message, got none",
      permanent: true,
    });
  }
  const mixed = await collectReply(llm, { newMessages: [userText("a"), assistantText("b")] });
  expect(mixed.outcome).toEqual({
    status: "failed",
    message: "the new messages of a request must be of one role, got user and assistant",
    permanent: true,
  });
  expect(server.log).toEqual([]);
});

test("each request holds the whole history, of which the caller passes only what is new (PC-008, PC-038)", async () => {
  const server = await strict(["one", "two", "three"]);
  const llm = model(server);
  for (const text of ["a", "b", "c"]) await collectReply(llm, { newMessages: [userText(text)] });
  expect(sentTexts(server, 2)).toEqual(["a", "one", "b", "two", "c"]);
  expect(server.violations).toEqual([]);
});

test("a failed request leaves the history as it was, and one call is one request (PC-027, PC-028)", async () => {
  const faults = [
    { status: 500 },
    { eof: { after: "delta:2" } },
    { reset: { after: "delta:2" } },
    { errorEvent: { after: "delta:1" } },
  ];
  const server = await strict([{ text: "a long enough answer", chunk: 4, faults }, "two"]);
  const llm = model(server);
  for (const _ of faults) expect((await collectReply(llm, go)).outcome.status).not.toBe("completed");
  expect((await collectReply(llm, go)).outcome.status).toBe("completed");
  await collectReply(llm, { newMessages: [userText("next")] });
  expect(server.log).toHaveLength(6);
  expect(sentTexts(server, 4)).toEqual(["go"]);
  expect(sentTexts(server, 5)).toEqual(["go", "a long enough answer", "next"]);
  expect(server.violations).toEqual([]);
});

test("a carried history is sent before the first input, and can be set once, beforehand (PC-039)", async () => {
  const server = await strict(["ok"]);
  const llm = model(server);
  llm.setHistory([userText("before"), assistantText("yes")]);
  expect(() => llm.setHistory([])).toThrow(RookeryError);
  await collectReply(llm, go);
  expect(sentTexts(server, 0)).toEqual(["before", "yes", "go"]);
  const used = model(server);
  await collectReply(used, { newMessages: [] });
  await collectReply(used, go);
  expect(() => used.setHistory([])).toThrow("setHistory was called on a model that has a history already");
});

test("ids of a carried history are not given out again (PC-037, PC-050)", async () => {
  const server = await strict([{ tools: [{ name: "t", id: "t" }] }, { tools: [{ name: "t", id: "t" }] }]);
  const carried: OmniMessage[] = [
    userText("go"),
    modelMessage({ type: "tool_call", role: "assistant", name: "t", arguments: "{}", tool_call_id: "t" }),
    modelMessage({ type: "tool_call_output", role: "user", output: "1", tool_call_id: "t" }),
    assistantText("done"),
  ];
  const own = model(server);
  own.setHistory(carried);
  expect((await collectReply(own, go)).complete).toMatchObject([{ tool_call_id: "t#2" }]);
  const toolCallIds = createToolCallIdAllocator(["t", "t#2"]);
  expect((await collectReply(model(server, { toolCallIds }), go)).complete).toMatchObject([{ tool_call_id: "t#3" }]);
});

test("the tools of a request stay in force; without any the field is left out (PC-031)", async () => {
  const server = await strict(["a", "b", "c", "d"]);
  const llm = model(server, { tools: [] });
  const tools = [{ name: "list", description: "Lists.", parameters: { type: "object", properties: {} } }];
  await collectReply(llm, go);
  await collectReply(llm, { ...go, tools });
  await collectReply(llm, go);
  await collectReply(llm, { ...go, tools: [] });
  expect(server.log.map(({ body }) => body.tools?.length)).toEqual([undefined, 1, 1, undefined]);
  expect(server.log.map(({ body }) => "tools" in body)).toEqual([false, true, true, false]);
});

test("tokens are counted per request and over the life of the model (PC-013, PC-020)", async () => {
  const server = await strict([
    { text: "a", usage: { input: 900, output: 20, reasoning: 5, cacheRead: 800 } },
    { text: "b", usage: { input: 1000, output: 30, cacheRead: 0 } },
  ]);
  const llm = model(server);
  expect((await collectReply(llm, go)).usage).toMatchObject({
    request: { cache_read: 800, cache_write: 100, output: 20, total: 920 },
    session: { total: 920 },
  });
  expect((await collectReply(llm, go)).usage).toMatchObject({
    request: { cache_read: 0, cache_write: 1000, output: 30, total: 1030 },
    session: { cache_read: 800, cache_write: 1100, output: 50, total: 1950 },
  });
});

test("nothing but OmniMessages is yielded, and no message tells the final state (PC-002, PC-007, PC-014)", async () => {
  const server = await strict([{ thinking: "hm", text: "ok" }]);
  const { messages, outcome } = await collectReply(model(server), go);
  expect(new Set(messages.map(({ type }) => type))).toEqual(new Set(["model_msg", "event_msg"]));
  expect(messages.filter(({ type }) => type === "event_msg").map(({ payload }) => payload.type)).toEqual([
    "token_usage",
  ]);
  expect(outcome.status).toBe("completed");
});

// Failures.

test.each<[fault: Record<string, unknown>, outcome: Record<string, unknown>]>([
  [{ status: 401 }, { status: "auth" }],
  [{ status: 404 }, { status: "failed", permanent: true }],
  [
    { status: 429, retryAfter: 3 },
    { status: "timeout", retryAfterMs: 3000 },
  ],
  [
    { status: 429, type: "insufficient_quota", code: "insufficient_quota" },
    { status: "failed", permanent: true },
  ],
  [{ status: 500 }, { status: "timeout" }],
  [
    { status: 500, body: "<html><title>Oops</title></html>" },
    { status: "timeout", message: "the provider answered HTTP 500: Oops" },
  ],
  [{ status: 503 }, { status: "timeout" }],
  [{ status: 529 }, { status: "timeout" }],
  [{ contextLength: true }, { status: "failed", overflow: true }],
  [{ reset: true }, { status: "timeout" }],
])(
  "the answer %j before a reply ends as %j (PC-015, PC-016, PC-017, PC-021, PC-023, PC-025)",
  async (fault, expected) => {
    const server = await strict([{ text: "never", fault }]);
    const { outcome, messages } = await collectReply(model(server), go);
    expect(outcome).toMatchObject(expected);
    expect(outcome.message).toBeTruthy();
    expect(outcome.message).not.toContain(KEY);
    expect(messages).toEqual([]);
  },
);

test("a bare 403 may pass, a key that the provider repeats is not told (PC-023, PC-025)", async () => {
  const server = await raw(
    { status: 403, body: "quota" },
    { status: 401, body: JSON.stringify({ error: { message: `bad key ${KEY}` } }) },
  );
  const llm = model(server);
  expect((await collectReply(llm, go)).outcome).toEqual({
    status: "failed",
    message: "the provider answered HTTP 403: quota",
  });
  expect((await collectReply(llm, go)).outcome).toEqual({
    status: "auth",
    message: "the provider answered HTTP 401: bad key [redacted]",
  });
});

test.each<[fault: Record<string, unknown>, status: string]>([
  [{ eof: true }, "malformed"],
  [{ eof: { after: "delta:3", midFrame: true } }, "malformed"],
  [{ malformed: { at: 3 } }, "malformed"],
  [{ reset: { after: "delta:3" } }, "timeout"],
  [{ errorEvent: { after: "delta:3", kind: "rate_limit" } }, "timeout"],
  [{ errorEvent: { after: "delta:3", data: { error: { message: "odd", type: "odd_error" } } } }, "failed"],
])(
  "a stream broken by %j ends as %s, every segment closed with it (PC-017, PC-021, PC-022, PC-023, PC-027)",
  async (fault, status) => {
    const server = await strict([{ text: "some text", tools: [{ name: "t", args: { path: "a" } }], chunk: 3, fault }]);
    const { outcome, complete } = await collectReply(model(server), go);
    expect(outcome.status).toBe(status);
    expect(outcome.message).toBeTruthy();
    expect(complete.at(-1)?.stop_reason).toBe(status);
  },
);

test("an error inside a stream keeps its type", async () => {
  const server = await strict([{ text: "some text", fault: { errorEvent: { after: "delta:1", kind: "rate_limit" } } }]);
  const { outcome } = await collectReply(model(server), go);
  expect(outcome.message).toBe(
    "the provider reported an error (requests, rate_limit_exceeded): Rate limit reached for requests.",
  );
});

test("nobody at the address is a time-out that names the reason (PC-021)", async () => {
  const gone = await startRawProvider();
  await gone.close();
  const { outcome } = await collectReply(model(gone), go);
  expect(outcome.status).toBe("timeout");
  expect(outcome.message).toMatch(/^the connection to the provider failed: .*ECONNREFUSED/);
});

test("silence before or inside a reply is a time-out after requestTimeoutMs (PC-021, PC-036)", async () => {
  const server = await strict([
    { text: "never", fault: { delay: 60_000 } },
    { text: "some text", chunk: 4, fault: { stall: { after: "delta:1" } } },
  ]);
  const llm = model(server, { requestTimeoutMs: 300 });
  expect(await collectReply(llm, go)).toMatchObject({
    outcome: { status: "timeout", message: "the provider sent nothing for 300 ms" },
    messages: [],
  });
  const inside = await collectReply(llm, go);
  expect(inside.outcome.status).toBe("timeout");
  expect(inside.complete).toMatchObject([{ text: "some", stop_reason: "timeout" }]);
});

test("time the consumer takes is no silence of the provider (PC-036)", async () => {
  const server = await strict([{ text: "abcdef", chunk: 3 }]);
  const llm = model(server, { requestTimeoutMs: 300 });
  const slow = await collectReply(llm, go, async ({ payload }) => {
    if (payload.type === "partial_text" && payload.event_type === "start") {
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
  });
  expect(slow.outcome.status).toBe("completed");
});

test("a server that falls silent behind the finish reason has answered", async () => {
  const chunks = [{ delta: { content: "Hi" } }, { delta: {}, finish_reason: "stop" }];
  const body = chunks.map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`).join("");
  const server = await raw((response) => void response.write(body));
  const llm = model(server, { requestTimeoutMs: 300 });
  expect((await collectReply(llm, go)).outcome).toEqual({ status: "completed", finishReason: "stop" });
});

// Interruption.

test("an abort beforehand makes no request (PC-010, PC-024)", async () => {
  const server = await strict(["never"]);
  const { outcome, messages } = await collectReply(model(server), { ...go, signal: AbortSignal.abort() });
  expect(outcome).toEqual({ status: "aborted" });
  expect(messages).toEqual([]);
  expect(server.log).toEqual([]);
});

test("an abort while the server has not answered ends the request on both sides (PC-010, PC-024)", async () => {
  const user = new AbortController();
  let left: Promise<void> | undefined;
  const server = await raw((response) => {
    left = new Promise((resolve) => response.once("close", resolve));
    user.abort();
  });
  expect((await collectReply(model(server), { ...go, signal: user.signal })).outcome).toEqual({ status: "aborted" });
  await left;
});

test.each([
  ["text", { text: "some text", chunk: 4, fault: { stall: { after: "delta:1" } } }, { text: "some" }],
  [
    "arguments",
    { tools: [{ name: "t", args: { path: "a" } }], chunk: 4, fault: { stall: { after: "delta:2" } } },
    { arguments: '{"pa' },
  ],
])(
  "an abort inside %s closes it as aborted, and the history is as before (PC-010, PC-024)",
  async (_, turn, expected) => {
    const server = await strict([turn, "ok"]);
    const llm = model(server);
    const user = new AbortController();
    const reply = await collectReply(llm, { ...go, signal: user.signal }, ({ payload }) => {
      if ("event_type" in payload && payload.event_type === "delta") user.abort();
    });
    expect(reply.outcome).toEqual({ status: "aborted" });
    expect(reply.complete).toMatchObject([{ ...expected, stop_reason: "aborted" }]);
    await collectReply(llm, { newMessages: [userText("again")] });
    expect(sentTexts(server, 1)).toEqual(["again"]);
  },
);

test("an abort after the whole reply has arrived does not take it back", async () => {
  const server = await strict(["done", "ok"]);
  const llm = model(server);
  const user = new AbortController();
  const reply = await collectReply(llm, { ...go, signal: user.signal }, ({ payload }) => {
    if (payload.type === "text") user.abort();
  });
  expect(reply.outcome.status).toBe("completed");
  await collectReply(llm, { newMessages: [userText("next")] });
  expect(sentTexts(server, 1)).toEqual(["go", "done", "next"]);
});

test("a consumer that leaves early ends the request, and the history is as before", async () => {
  let left: Promise<void> | undefined;
  const server = await raw((response) => {
    left = new Promise((resolve) => response.once("close", resolve));
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: "Hi" } }] })}\n\n`);
  });
  for await (const message of model(server).streamGenerate(go)) {
    expect(message.payload.type).toBe("partial_text");
    break;
  }
  await left;
});

// The key.

test("the key is asked for before each request (PC-029)", async () => {
  const keys = ["first-key", "second-key"];
  const server = await raw({ status: 401, body: "" });
  const llm = model(server, { resolveApiKey: async () => keys.shift() });
  await collectReply(llm, go);
  await collectReply(llm, go);
  await collectReply(llm, go);
  expect(server.headers.map(({ authorization }) => authorization)).toEqual([
    "Bearer first-key",
    "Bearer second-key",
    undefined,
  ]);
});

test("a key that cannot be had is the outcome of the request (PC-017, PC-025)", async () => {
  const failing = (error: unknown): GenerativeModel =>
    model({ url: "http://127.0.0.1:9" }, { resolveApiKey: () => Promise.reject(error) });
  const known = new RookeryError("model-auth", "no key is known", { hint: "set X_API_KEY" });
  expect((await collectReply(failing(known), go)).outcome).toEqual({
    status: "auth",
    message: "no key is known; set X_API_KEY",
  });
  expect((await collectReply(failing(new Error("vault is closed")), go)).outcome).toEqual({
    status: "failed",
    message: "the request failed: the key cannot be had: vault is closed",
  });
});

test("an abort ends the wait for a key", async () => {
  const user = new AbortController();
  const llm = model({ url: "http://127.0.0.1:9" }, { resolveApiKey: () => new Promise(() => user.abort()) });
  expect((await collectReply(llm, { ...go, signal: user.signal })).outcome).toEqual({ status: "aborted" });
});

test("a protocol that is not there is a final failure (PC-030)", async () => {
  const { outcome } = await collectReply(model({ url: "http://127.0.0.1:9" }, { clientType: "smoke-signals" }), go);
  expect(outcome).toMatchObject({ status: "failed", permanent: true });
  expect(outcome.message).toMatch(
    /^the client type "smoke-signals" is not available; set client_type or --client-type to /,
  );
});

test("an image that cannot be sent, of the user or of a tool, does not end a conversation", async () => {
  const server = await strict([{ tools: [{ name: "shot", id: "c1" }] }, "ok", "still ok"]);
  const llm = model(server);
  const image = modelMessage({ type: "image_url", role: "user", image_url: "/tmp/a.png" } as const);
  const output = modelMessage({
    type: "tool_call_output",
    role: "user",
    output: "x",
    tool_call_id: "c1",
    images: ["data:image/png;base64,"],
  } as const);
  for (const next of [image, output, userText("again")]) {
    expect((await collectReply(llm, { newMessages: [next] })).outcome.status).toBe("completed");
  }
  expect(sentTexts(server, 2).slice(2)).toEqual([
    "x",
    "Images in the output of tool call c1:",
    "[an image could not be sent: it is empty]",
    "ok",
    "again",
  ]);
  expect(server.violations).toEqual([]);
});

// What a server may know and people may not.

test.each<[string, Partial<GenerativeModelConfig>, (headers: IncomingHttpHeaders, url: string) => string, string]>([
  [
    "the token of a header",
    { headers: { Authorization: "Bearer tok-abcdef" } },
    ({ authorization }) => `no ${authorization?.slice(7)}, all of it ${authorization}`,
    "no [redacted], all of it [redacted]",
  ],
  [
    "a Basic pair and its password",
    { headers: { Authorization: `Basic ${Buffer.from("user:hunter2secret").toString("base64")}` } },
    ({ authorization }) =>
      `${Buffer.from(authorization?.slice(6) ?? "", "base64")}, hunter2secret, ${authorization?.slice(6)}`,
    "[redacted], [redacted], [redacted]",
  ],
  [
    "a key as JSON and as part of an address",
    { apiKey: 'a"b\\c/d+e==' },
    () => String.raw`"a\"b\\c/d+e==" "a\"b\\c\/d+e==" ${encodeURIComponent('a"b\\c/d+e==')}`,
    '"[redacted]" "[redacted]" [redacted]',
  ],
  [
    "values of the query that grant access",
    { baseUrl: "?subscription-key=SUBKEY12345&sig=SIG%2BVALUE&api-version=2024-10-21" },
    (_, url) => `no ${url} SUBKEY12345 SIG+VALUE`,
    "no /v1/chat/completions?subscription-key=[redacted]&sig=[redacted]&api-version=2024-10-21 [redacted] [redacted]",
  ],
])("%s is in no message", async (_, config, answer, told) => {
  const server = await raw((response, { headers, url = "" }) => {
    response.writeHead(400).end(JSON.stringify({ error: { message: answer(headers, url) } }));
  });
  const baseUrl = `${server.url}/v1${config.baseUrl ?? ""}`;
  const { outcome } = await collectReply(model(server, { ...config, baseUrl }), go);
  expect(outcome.message).toBe(`the provider answered HTTP 400: ${told}`);
});

test.each(["sk-b\u00e4d\u2192key-987654", "sk-bad\nkey-987654", "sk-bad\u0000key"])(
  "the key %j, which no header can hold, is auth at once and not sent (PC-025)",
  async (apiKey) => {
    const server = await raw({ body: "" });
    expect((await collectReply(model(server, { apiKey }), go)).outcome).toEqual({
      status: "auth",
      message:
        "the key cannot be sent: it holds a line break or a character that HTTP headers do not allow; copy the key again, without quotes or line breaks",
    });
    expect(server.paths).toEqual([]);
  },
);

test("a line end behind a key is not part of it", async () => {
  const server = await strict(["ok"], { apiKeys: [KEY] });
  expect((await collectReply(model(server, { apiKey: `${KEY}\n` }), go)).outcome.status).toBe("completed");
});

test("a configured header that cannot be sent is a final failure that names it and not its value", async () => {
  expect(
    (await collectReply(model({ url: "http://127.0.0.1:9" }, { headers: { "X-A": "va\nlue" } }), go)).outcome,
  ).toEqual({
    status: "failed",
    message: "the header x-a cannot be sent: it holds a line break or a character that HTTP headers do not allow",
    permanent: true,
  });
});

test("userinfo in the base URL is refused, and not told", async () => {
  expect((await collectReply(model({ url: "http://user:passw0rd@127.0.0.1:9" }), go)).outcome).toEqual({
    status: "failed",
    message:
      "the base URL must not hold a user name or password; set the key of the model, or an authorization header, in their place",
    permanent: true,
  });
});

// Tool names.

test("tools of any name are offered under names the service takes, and called by their own", async () => {
  const names = [
    "mcp.server/tool",
    "mcp server/tool",
    "mcp_server_tool",
    "x".repeat(80),
    `${"x".repeat(79)}y`,
    "plain",
  ];
  const tools = names.map((name) => ({ name, description: "Does.", parameters: { type: "object", properties: {} } }));
  const server = await strict(["ok"]);
  const llm = model(server, { tools });
  await collectReply(llm, go);
  const offered: string[] = server.log[0]?.body.tools.map((tool: { function: { name: string } }) => tool.function.name);
  expect(new Set(offered).size).toBe(names.length);
  expect(offered.filter((name, i) => name === names[i])).toEqual(["mcp_server_tool", "plain"]);
  const calling = await strict([{ tools: offered.map((name, i) => ({ name, id: `c${i}` })) }, "done"]);
  const caller = model(calling, { tools });
  const { complete } = await collectReply(caller, go);
  expect(complete.map((payload) => payload.type === "tool_call" && payload.name)).toEqual(names);
  const outputs = names.map((_, i) =>
    modelMessage({ type: "tool_call_output", role: "user", output: "1", tool_call_id: `c${i}` } as const),
  );
  expect((await collectReply(caller, { newMessages: outputs })).outcome.status).toBe("completed");
  const back = calling.log[1]?.body.messages[1].tool_calls.map(
    (call: { function: { name: string } }) => call.function.name,
  );
  expect(back).toEqual(offered);
  expect([...server.violations, ...calling.violations]).toEqual([]);
});

// Waiting.

test("events that say nothing, comments, nameless calls and bytes of one long event are no silence (PC-036)", async () => {
  const nameless = chunk({ tool_calls: [{ index: 0, id: "c", function: { arguments: "" } }] });
  const signs = [chunk({}), ": at work\n\n", nameless, " "];
  const replies = signs.map(async (sign) => {
    const server = await raw(async (response) => {
      response.write(chunk({ content: "a" }) + (sign === " " ? "data:" : ""));
      for (let n = 0; n < 12; n += 1) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        response.write(sign);
      }
      response.end(`{}\n\n${chunk({ content: "b" })}${chunk({}, "stop")}data: [DONE]\n\n`);
    });
    return collectReply(model(server, { requestTimeoutMs: 1000 }), go);
  });
  for (const { outcome, complete } of await Promise.all(replies)) {
    expect(outcome).toEqual({ status: "completed", finishReason: "stop" });
    expect(complete[0]).toMatchObject({ text: "ab" });
  }
});

test("a server that goes on behind the finish reason without end is not waited for", async () => {
  let beat: NodeJS.Timeout | undefined;
  const server = await raw((response) => {
    response.write(chunk({ content: "Hi" }) + chunk({}, "stop"));
    beat = setInterval(() => response.write(": still here\n\n"), 50);
    response.once("close", () => clearInterval(beat));
  });
  const { outcome } = await collectReply(model(server, { requestTimeoutMs: 0 }), go);
  expect(outcome).toEqual({ status: "completed", finishReason: "stop" });
});

function chunk(delta: object, finish_reason: string | null = null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}
