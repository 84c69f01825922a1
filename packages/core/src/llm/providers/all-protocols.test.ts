import { expect, onTestFinished, test, vi } from "vitest";
import { modelOver, noComplaints, PIXEL, raw, readFile, reads, strict } from "../../../test/support/adapter-kit.ts";
import { answers, ask, callsOf, output, textOf } from "../../../test/support/ask.ts";
import { collectReply } from "../../../test/support/collect-reply.ts";
import { holdConversation, longScript } from "../../../test/support/conversation.ts";
import * as messagesService from "../../../test/support/messages-service.ts";
import { CLIENT_TYPES } from "../../../test/support/post-request.ts";
import * as responsesWire from "../../../test/support/responses-wire.ts";
import { modelMessage, userImage, userText } from "../../omnimessage/build.ts";
import type { ProviderClientType } from "../../testing/index.ts";
import type { GenerativeModelConfig } from "../contract.ts";
import { GenerativeModel } from "../generative-model.ts";

// biome-ignore lint/suspicious/noExplicitAny: the body of a request as it came over the wire.
type Body = any;

interface Wire {
  /** A whole reply that says "ok". */
  readonly ok: string;
  readonly keyHeader: string;
  readonly defaultAddress: string;
  /** The text of the reply in a request that holds one before. */
  sentText(body: Body): string;
}

const WIRES: Readonly<Record<ProviderClientType, Wire>> = {
  "openai-chat": {
    ok: 'data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    keyHeader: "authorization",
    defaultAddress: "https://api.openai.com/v1/chat/completions",
    sentText: ({ messages }) => messages[1].content,
  },
  "openai-responses": {
    ok: responsesWire.reply(...responsesWire.message("ok")),
    keyHeader: "authorization",
    defaultAddress: "https://api.openai.com/v1/responses",
    sentText: ({ input }) => input[1].content[0].text,
  },
  "anthropic-messages": {
    ok: messagesService.reply(messagesService.text("ok")),
    keyHeader: "x-api-key",
    defaultAddress: "https://api.anthropic.com/v1/messages",
    sentText: ({ messages }) => messages[1].content[0].text,
  },
  google: {
    ok: 'data: {"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP"}]}\n\n',
    keyHeader: "x-goog-api-key",
    defaultAddress:
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse",
    sentText: ({ contents }) => contents[1].parts[0].text,
  },
};

// Replies.

const DELIVERIES: readonly [said: string, fault: object, only?: ProviderClientType][] = [
  ["bytes one by one", { bytes: 1 }],
  ["cuts inside characters", { bytes: "utf8", crlf: true }],
  ["cuts inside escapes", { bytes: "escape", unicodeEscapes: true }],
  ["cuts before line ends", { bytes: "lines", crlf: true, bom: true }],
  ["everything at once", { bytes: "coalesce" }],
  ["keep-alive comments", { keepAlive: true }],
  ["another content type", { contentType: "text/plain" }],
  ["no [DONE]", { noDone: true }, "openai-chat"],
  ["an event that comes twice", { duplicate: { at: 6 } }, "openai-responses"],
  ["a start of a block that comes twice", { duplicate: { at: 2 } }, "anthropic-messages"],
];

test.each(
  DELIVERIES.flatMap(([said, fault, only]) =>
    (only ? [only] : CLIENT_TYPES).map((clientType) => [said, clientType, fault] as const),
  ),
)("%s change nothing in a reply over %s (PC-040)", async (_, clientType, fault) => {
  const tools = reads('a"\\\n🙂');
  const server = await strict([{ thinking: "hé", text: "日本 🙂", tools, chunk: 2, fault }, "ok"]);
  const llm = modelOver(clientType)(server, { tools: [readFile], thinkingLevel: "high" });
  const got = await ask(llm);
  expect(got.complete).toMatchObject([
    { thinking: "hé" },
    { text: "日本 🙂" },
    { arguments: JSON.stringify(tools[0]?.args) },
  ]);
  expect((await ask(llm, ...answers(got))).outcome.status).toBe("completed");
  noComplaints(server);
});

test.each(CLIENT_TYPES)(
  "a pair of surrogates split over two deltas is whole in a message over %s",
  async (clientType) => {
    const server = await strict([{ text: "a🏔b", chunk: 2, splitSurrogates: true }, "ok"]);
    const llm = modelOver(clientType)(server);
    expect(textOf(await ask(llm))).toBe("a🏔b");
    await ask(llm, userText("next"));
    expect(WIRES[clientType].sentText(server.log[1]?.body)).toBe("a🏔b");
    noComplaints(server);
  },
);

test.each(
  CLIENT_TYPES.flatMap((clientType) =>
    ["missing", "empty", "duplicate", ...(clientType === "openai-chat" ? [] : ["reused"])].map(
      (ids) => [ids, clientType] as const,
    ),
  ),
)(
  "calls with %s ids over %s run apart and are told apart in the next requests (PC-048, PC-050)",
  async (ids, clientType) => {
    const turn = { thinking: "hm", tools: reads("a", "b") };
    const faulty = { ...turn, fault: { ids }, interleave: true };
    const server = await strict([ids === "reused" ? turn : faulty, faulty, "ok"]);
    const llm = modelOver(clientType)(server, { tools: [readFile] });
    const first = await ask(llm);
    const second = await ask(llm, ...answers(first));
    const calls = [first, second].flatMap(callsOf);
    expect(calls.map((call) => call.arguments)).toEqual(["a", "b", "a", "b"].map((path) => JSON.stringify({ path })));
    expect(new Set(calls.map((call) => call.tool_call_id)).size).toBe(4);
    expect((await ask(llm, ...answers(second))).outcome.status).toBe("completed");
    noComplaints(server);
  },
);

test.each(CLIENT_TYPES)(
  "over %s an image that is none, of a user or a tool, is said to be none, and a wrong label is mended: nothing is refused",
  async (clientType) => {
    const server = await strict([{ tools: reads("a") }, "seen", "ok"]);
    const llm = modelOver(clientType)(server, { tools: [readFile] });
    const images = [`data:image/png;base64,${btoa("hello world")}`, PIXEL.replace("png", "webp")];
    const got = await ask(llm, userText("see"), ...images.map((url) => userImage(url)));
    expect((await ask(llm, ...answers(got, { images }))).outcome.status).toBe("completed");
    expect((await ask(llm, userText("next"))).outcome.status).toBe("completed");
    const sent = JSON.stringify(server.log[2]?.body);
    expect(sent.match(/an image could not be sent: it is no png, jpeg, gif or webp image/g)).toHaveLength(2);
    expect(sent.match(/image\/png/g)).toHaveLength(2);
    noComplaints(server);
  },
);

// Whole conversations.

const MODELS: readonly [ProviderClientType, modelId: string, level?: GenerativeModelConfig["thinkingLevel"]][] = [
  ["openai-chat", "deepseek-chat", "high"],
  ["openai-chat", "gpt-5.1", "high"],
  ["openai-responses", "gpt-5", "high"],
  ["openai-responses", "gpt-5.2", "high"],
  ["openai-responses", "o4-mini", "high"],
  ["openai-responses", "gpt-6.1-terra", "high"],
  ["openai-responses", "gpt-4o", "high"],
  ["openai-responses", "compat-local", "high"],
  ["openai-responses", "openai/gpt-5", "high"],
  ["anthropic-messages", "claude-3-5-haiku-20241022", "high"],
  ["anthropic-messages", "claude-opus-4-5", "high"],
  ["anthropic-messages", "claude-sonnet-4-6", "high"],
  ["anthropic-messages", "claude-opus-4-7", "high"],
  ["anthropic-messages", "claude-sonnet-5-5", "none"],
  ["anthropic-messages", "claude-fable-5-1", "high"],
  ["anthropic-messages", "claude-fable-5-1"],
  ["anthropic-messages", "kimi-k2", "high"],
  ["google", "gemini-3-pro-preview", "medium"],
  ["google", "gemini-3.8-flash", "medium"],
  ["google", "gemini-3-flash", "medium"],
  ["google", "gemini-2.5-pro", "medium"],
  ["google", "gemini-2.5-flash", "medium"],
  ["google", "gemini-2.5-flash-lite", "medium"],
  ["google", "gemini-2.0-flash", "medium"],
  ["google", "gemini-flash-latest", "medium"],
  ["google", "another-model", "medium"],
];
/** What the names of these do not tell the strict server. */
const REASONING = { "gpt-6.1-terra": { reasoning: true }, "openai/gpt-5": { reasoning: true } };

test.each(MODELS)(
  "over %s thirty turns of %s at level %s with parallel calls, images and faults are held without a loss (PC-021, PC-022, PC-038, PC-041, PC-051)",
  async (clientType, modelId, thinkingLevel) => {
    const server = await strict(longScript(), { models: REASONING });
    const config = { modelId, tools: [readFile], systemPrompt: "Be brief." };
    await holdConversation(modelOver(clientType)(server, { ...config, ...(thinkingLevel && { thinkingLevel }) }));
    noComplaints(server);
  },
);

test.each<[ProviderClientType, (body: Body) => { arguments: string }[]]>([
  ["openai-chat", ({ messages }) => messages[1].tool_calls.map((call: Body) => call.function)],
  ["openai-responses", ({ input }) => input.slice(1, 4)],
])(
  "over %s arguments go back as they were written, escapes and odd names inside them too",
  async (clientType, sentCalls) => {
    const server = await strict(["ok"]);
    const llm = modelOver(clientType)(server);
    const texts = ['{ "n": 12345678901234567890 }', '{"a":"\\ud83d\\ude42"}', '{"__proto__":{"x":1}}'];
    const calls = texts.map((text, i) =>
      modelMessage({ type: "tool_call", role: "assistant", name: "t", arguments: text, tool_call_id: `c${i}` }),
    );
    llm.setHistory([userText("go"), ...calls]);
    await ask(llm, ...texts.map((_, i) => output(`c${i}`)));
    const sent = sentCalls(server.log[0]?.body).map((call) => call.arguments);
    expect(sent.slice(0, 2)).toEqual(texts.slice(0, 2));
    expect(JSON.parse(sent[2] ?? "")).toEqual(JSON.parse(texts[2] ?? ""));
    noComplaints(server);
  },
);

test.each<[ProviderClientType, (body: Body) => unknown]>([
  ["openai-chat", (body) => body.reasoning_effort],
  ["openai-responses", (body) => body.reasoning.effort],
  ["anthropic-messages", (body) => body.output_config.effort],
  ["google", (body) => body.generationConfig.thinkingConfig.thinkingLevel],
])(
  "over %s a level given with a request holds for it, else the one of construction (PC-011, PC-035)",
  async (clientType, levelIn) => {
    const server = await strict(["a", "b"]);
    const modelId = clientType === "anthropic-messages" ? { modelId: "claude-opus-4-7" } : {};
    const llm = modelOver(clientType)(server, { thinkingLevel: "low", ...modelId });
    await collectReply(llm, { newMessages: [userText("x")], thinkingLevel: "high" });
    await ask(llm);
    expect(server.log.map(({ body }) => levelIn(body))).toEqual(["high", "low"]);
  },
);

// Addresses and keys.

const GENERATE = "/models/gemini-3-flash:streamGenerateContent?alt=sse";

test.each<[ProviderClientType, suffix: string, path: string]>([
  ["openai-chat", "/v1//?api-version=7", "/v1/chat/completions?api-version=7"],
  ["openai-responses", "/v1//?api-version=7", "/v1/responses?api-version=7"],
  ["anthropic-messages", "", "/v1/messages"],
  ["anthropic-messages", "/", "/v1/messages"],
  ["anthropic-messages", "/v1//", "/v1/messages"],
  ["anthropic-messages", "/v2beta", "/v2beta/messages"],
  ["anthropic-messages", "/api/anthropic?api-version=7&a=b", "/api/anthropic/v1/messages?api-version=7&a=b"],
  ["google", "", `/v1beta${GENERATE}`],
  ["google", "/", `/v1beta${GENERATE}`],
  ["google", "/v1beta", `/v1beta${GENERATE}`],
  ["google", "/v1alpha/", `/v1alpha${GENERATE}`],
  ["google", "/v1/gateway?a=b%20c&d=", `/v1/gateway/v1beta${GENERATE}&a=b%20c&d=`],
])(
  "over %s the address %j is asked at %s, with the key and the headers of the configuration",
  async (clientType, suffix, path) => {
    const { ok, keyHeader } = WIRES[clientType];
    const server = await raw({ body: ok });
    const llm = modelOver(clientType)(server, {
      apiKey: "sk-canary-3333",
      baseUrl: server.url + suffix,
      headers: { "X-Team": "red" },
    });
    expect(textOf(await ask(llm))).toBe("ok");
    expect(server.paths).toEqual([path]);
    const key = keyHeader === "authorization" ? "Bearer sk-canary-3333" : "sk-canary-3333";
    const version = clientType === "anthropic-messages" && { "anthropic-version": "2023-06-01" };
    expect(server.headers[0]).toMatchObject({ "x-team": "red", [keyHeader]: key, ...version });
  },
);

/** Where the packages would look for a key and an address by themselves. */
const ENVIRONMENT = {
  OPENAI_API_KEY: "sk-of-the-environment",
  OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
  ANTHROPIC_API_KEY: "sk-ant-of-the-environment",
  ANTHROPIC_BASE_URL: "http://127.0.0.1:9",
  GOOGLE_GENERATIVE_AI_API_KEY: "of-the-environment",
};

function stubEnvironment(): void {
  for (const [name, value] of Object.entries(ENVIRONMENT)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

test.each(CLIENT_TYPES)(
  "over %s the default address is the vendor's, no key is looked for, and requests go out through the given fetch",
  async (clientType) => {
    stubEnvironment();
    const { ok, keyHeader, defaultAddress } = WIRES[clientType];
    const asked: [address: string, key: string | null][] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      asked.push([String(input), new Headers(init?.headers).get(keyHeader)]);
      return new Response(ok, { headers: { "content-type": "text/event-stream" } });
    };
    const llm = new GenerativeModel({ modelId: "gemini-3-flash", clientType, tools: [], fetch });
    expect(textOf(await ask(llm))).toBe("ok");
    expect(asked).toEqual([[defaultAddress, null]]);
  },
);

test.each(CLIENT_TYPES)(
  "over %s no key is sent without one, whatever the environment holds; a header of the configuration stands for it",
  async (clientType) => {
    stubEnvironment();
    const { ok, keyHeader } = WIRES[clientType];
    const server = await raw({ body: ok });
    const model = modelOver(clientType);
    await ask(model(server, { apiKey: "" }));
    await ask(model(server, { headers: { [keyHeader.toUpperCase()]: "mine" } }));
    expect(server.headers.map((headers) => headers[keyHeader])).toEqual([undefined, "mine"]);
    expect(JSON.stringify(server.headers)).not.toContain("of-the-environment");
  },
);

test.each(CLIENT_TYPES)("over %s an address that is none is a final failure", async (clientType) => {
  for (const baseUrl of ["localhost:80", "ftp://x", ""]) {
    expect((await ask(modelOver(clientType)({ url: "" }, { baseUrl }))).outcome).toEqual({
      status: "failed",
      message: `the base URL must be an http or https address, got ${JSON.stringify(baseUrl)}; write it like http://127.0.0.1:8080/v1`,
      permanent: true,
    });
  }
});
