import fc from "fast-check";
import { expect, test } from "vitest";
import { inPieces, modelOver, raw, strict } from "../../../../test/support/adapter-kit.ts";
import { type CollectedReply, collectReply } from "../../../../test/support/collect-reply.ts";
import { userText } from "../../../omnimessage/build.ts";
import type { LLMOutcome } from "../../contract.ts";
import { mendReply } from "./mend-reply.ts";

function ask(server: { url: string }, signal?: AbortSignal, requestTimeoutMs?: number): Promise<CollectedReply> {
  const llm = modelOver("google")(server, requestTimeoutMs === undefined ? {} : { requestTimeoutMs });
  return collectReply(llm, { newMessages: [userText("go")], ...(signal && { signal }) });
}

function sse(...events: unknown[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

function said(...parts: object[]): object {
  return { candidates: [{ content: { parts } }] };
}

const HI = said({ text: "Hi" });
const STOP = { candidates: [{ finishReason: "STOP", index: 0 }] };
const BROKEN: LLMOutcome = { status: "malformed", message: "the reply ended without its end marker" };

/** What was said, without what differs from one run to the next. */
function contentOf({ complete, outcome }: CollectedReply): unknown {
  return { outcome, complete: complete.map((payload) => ({ ...payload, tool_call_id: undefined })) };
}

const EVERYTHING = sse(
  said({ text: "über 🤔", thought: true }),
  said({ text: "日 " }, { text: "\ud83c" }),
  said({ text: "\udfd4" }),
  said({ functionCall: { name: "a", args: { ключ: 'é"\\\n' } }, thoughtSignature: "QQ==" }),
  said({ functionCall: { name: "b", args: {} } }),
  STOP,
).replaceAll("日", "\\u65e5");

test("a reply cut anywhere, or everywhere, is the same reply (PC-040, PC-051)", async () => {
  const bytes = Buffer.from(EVERYTHING);
  const whole = contentOf(await askOver([bytes]));
  expect(whole).toMatchObject({
    outcome: { status: "completed", finishReason: "tool_calls" },
    complete: [{ thinking: "über 🤔" }, { text: "日 🏔" }, { name: "a" }, { name: "b" }],
  });
  for (let at = 1; at < bytes.length; at += 1) {
    expect(contentOf(await askOver([bytes.subarray(0, at), bytes.subarray(at)]))).toEqual(whole);
  }
  const cuts = fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(cuts, fc.boolean(), async (places, crlf) => {
      const body = crlf ? Buffer.from(EVERYTHING.replaceAll("\n", "\r\n")) : bytes;
      const sorted = [0, ...places.sort((a, b) => a - b), body.length];
      const pieces = sorted.slice(1).map((end, index) => body.subarray(sorted[index], end));
      expect(contentOf(await askOver(pieces))).toEqual(whole);
    }),
    { numRuns: 25 },
  );
});

/** A reply whose body comes in these pieces, one a read. */
function askOver(pieces: readonly Uint8Array[]): Promise<CollectedReply> {
  const llm = modelOver("google")({ url: "http://127.0.0.1:9" }, { fetch: inPieces(pieces) });
  return collectReply(llm, { newMessages: [userText("go")] });
}

test("a stream without a finish reason is broken, wherever it ends (PC-022)", async () => {
  const body = sse(HI, said({ functionCall: { name: "t", args: { a: 1 } } }), STOP);
  const last = body.lastIndexOf('"STOP"');
  for (const end of [0, 5, 20, body.indexOf("\n\n"), body.indexOf("\n\n") + 2, last]) {
    expect((await ask(await raw({ body: body.slice(0, end) }))).outcome).toEqual(BROKEN);
  }
  const unmarked = { candidates: [{ finishReason: "FINISH_REASON_UNSPECIFIED" }] };
  expect((await ask(await raw({ body: sse(HI, unmarked) }))).outcome).toEqual(BROKEN);
  const lineless = body.trimEnd();
  expect((await ask(await raw({ body: lineless }))).outcome.status).toBe("completed");
});

test("behind the finish reason the reply is whole, however the connection ends (PC-020)", async () => {
  const reset = await raw((response) => {
    response.write(sse(HI, STOP), () => response.socket?.resetAndDestroy());
  });
  expect((await ask(reset)).outcome).toEqual({ status: "completed", finishReason: "stop" });
  for (const rest of ["data: {broken\n\n", 'data: {"err', sse({ error: { code: 500, message: "late" } })]) {
    const got = await ask(await raw({ body: sse(HI, STOP) + rest }));
    expect(got.outcome).toEqual({ status: "completed", finishReason: "stop" });
    expect(got.complete).toMatchObject([{ text: "Hi" }]);
  }
});

test("an abort in the wait behind the finish reason finds the reply whole, one before it does not (PC-010, PC-024)", async () => {
  for (const [events, outcome] of [
    [[HI, STOP], { status: "completed", finishReason: "stop" }],
    [[HI], { status: "aborted" }],
  ] as const) {
    const abort = new AbortController();
    const server = await raw((response) => {
      response.write(sse(...events), () => setImmediate(() => setImmediate(() => abort.abort())));
    });
    expect((await ask(server, abort.signal)).outcome).toEqual(outcome);
  }
});

test("a server that keeps the connection open behind the finish reason is not waited for", async () => {
  const got = await ask(await raw((response) => void response.write(sse(HI, STOP))));
  expect(got.outcome).toEqual({ status: "completed", finishReason: "stop" });
});

test("a server that says nothing, or stops speaking, is given up (PC-021, PC-036)", async () => {
  for (const answer of [
    () => undefined,
    (response: { write(text: string): unknown }) => void response.write(sse(HI)),
  ]) {
    const { outcome } = await ask(await raw(answer), undefined, 60);
    expect(outcome).toEqual({ status: "timeout", message: "the provider sent nothing for 60 ms" });
  }
});

test("a connection that breaks is a time-out (PC-021)", async () => {
  const server = await raw((response) => void response.write(sse(HI), () => response.socket?.resetAndDestroy()));
  const got = await ask(server);
  expect(got.outcome.status).toBe("timeout");
  expect(got.complete).toMatchObject([{ text: "Hi", stop_reason: "timeout" }]);
});

test("comments, heartbeats, unknown events and fields are no hindrance (PC-013)", async () => {
  const body =
    `: ping\n\nevent: ping\ndata: {}\n\ndata: null\n\ndata: 7\n\n${sse({ type: "ping" }, { candidates: [] }, { candidates: null })}` +
    sse({ candidates: [{ content: {} }] }, { candidates: [{ content: { parts: null }, groundingMetadata: "?" }] }) +
    sse({ ...said({ text: "Hi", novel: { a: 1 } }, {}, { novelty: 1 }), usageMetadata: { promptTokenCount: "many" } }) +
    sse(
      said({ executableCode: { language: "PYTHON", code: "1" } }, { codeExecutionResult: { outcome: "OUTCOME_OK" } }),
    ) +
    `${sse({ ...STOP, promptFeedback: { blockReason: "BLOCK_REASON_UNSPECIFIED" } })}data: [DONE]\n\n`;
  for (const bytesPerWrite of [1, body.length]) {
    const got = await ask(await raw({ body, bytesPerWrite }));
    expect(got.outcome).toEqual({ status: "completed", finishReason: "stop" });
    expect(got.complete).toMatchObject([{ type: "text", text: "Hi" }]);
  }
});

test("counts of tokens are snapshots: the last of each is told, cache reads apart (PC-013, PC-020)", async () => {
  const body = sse(
    {
      ...HI,
      usageMetadata: {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        candidatesTokenCount: 1,
        thoughtsTokenCount: 5,
      },
    },
    { ...STOP, usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 9, thoughtsTokenCount: 5 } },
    { usageMetadata: { candidatesTokenCount: 10 } },
  );
  const { usage } = await ask(await raw({ body }));
  expect(usage?.request).toEqual({ cache_read: 60, cache_write: 40, output: 15, total: 115 });
  expect((await ask(await raw({ body: sse(HI, STOP) }))).usage?.request.total).toBe(0);
});

test("an answer that passes over alt=sse is read as what it is: one JSON array, or one object", async () => {
  const events = [said({ text: 'H{"]é' }), said({ text: "i\\" }), STOP];
  const array = JSON.stringify(events);
  const pretty = `\ufeff[${events.map((event) => JSON.stringify(event, null, 2)).join("\n,\r\n")}\n]\n`;
  const object = JSON.stringify({
    candidates: [
      { ...said({ text: 'H{"]éi\\' }, {}), content: { parts: [{ text: 'H{"]éi\\' }] }, finishReason: "STOP" },
    ],
  });
  for (const body of [array, pretty, object, array.slice(0, -1)]) {
    for (const bytesPerWrite of [1, body.length * 2]) {
      const got = await ask(await raw({ body, bytesPerWrite, headers: { "content-type": "application/json" } }));
      expect(got.outcome).toEqual({ status: "completed", finishReason: "stop" });
      expect(got.complete).toMatchObject([{ text: 'H{"]éi\\' }]);
    }
  }
  expect((await ask(await raw({ body: array.slice(0, -20) }))).outcome).toEqual(BROKEN);
  const error = { error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } };
  expect((await ask(await raw({ body: JSON.stringify([error]) }))).outcome.status).toBe("timeout");
});

test.each([
  ["MAX_TOKENS", "length"],
  ["length", "length"],
  ["max_output_tokens", "length"],
  ["SAFETY", "content_filter"],
  ["RECITATION", "content_filter"],
  ["PROHIBITED_CONTENT", "content_filter"],
  ["BLOCKLIST", "content_filter"],
  ["SPII", "content_filter"],
  ["IMAGE_SAFETY", "content_filter"],
  ["IMAGE_PROHIBITED_CONTENT", "content_filter"],
  ["IMAGE_RECITATION", "content_filter"],
  ["OTHER", "other"],
  ["LANGUAGE", "other"],
  ["SOMETHING_NEW", "other"],
])("the finish reason %s is told as %s", async (finishReason, told) => {
  const body = sse(HI, { candidates: [{ finishReason }] });
  expect((await ask(await raw({ body }))).outcome).toEqual({ status: "completed", finishReason: told });
});

test.each<[string, object, LLMOutcome]>([
  [
    "a call that the service could not read",
    { candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: "Malformed function call: print(" }] },
    {
      status: "malformed",
      message: "the provider gave the reply up (MALFORMED_FUNCTION_CALL: Malformed function call: print()",
    },
  ],
  [
    "a call that the service did not expect",
    { candidates: [{ finishReason: "UNEXPECTED_TOOL_CALL" }] },
    { status: "malformed", message: "the provider gave the reply up (UNEXPECTED_TOOL_CALL)" },
  ],
  [
    "a blocked prompt",
    { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } },
    {
      status: "failed",
      permanent: true,
      message: "the provider reported an error (content_filter): the prompt was blocked (PROHIBITED_CONTENT)",
    },
  ],
  [
    "a missing signature",
    { candidates: [{ finishReason: "MISSING_THOUGHT_SIGNATURE" }] },
    {
      status: "failed",
      permanent: true,
      message:
        "the provider reported an error (invalid_request): a thought signature is missing (MISSING_THOUGHT_SIGNATURE)",
    },
  ],
  [
    "overload",
    { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } },
    { status: "timeout", message: "the provider answered HTTP 503 (unavailable): The model is overloaded." },
  ],
  [
    "a rate limit",
    { error: { code: 429, message: "Resource has been exhausted.", status: "RESOURCE_EXHAUSTED", details: [] } },
    { status: "timeout", message: "the provider answered HTTP 429 (resource_exhausted): Resource has been exhausted." },
  ],
  [
    "a rate limit with the wait",
    { error: { code: 429, message: "Slow.", status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "7.5s" }] } },
    {
      status: "timeout",
      message: "the provider answered HTTP 429 (resource_exhausted): Slow.",
      retryAfterMs: 7500,
    },
  ],
  [
    "a refused key",
    { error: { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT" } },
    { status: "auth", message: "the provider answered HTTP 400 (invalid_api_key): API key not valid." },
  ],
  [
    "an internal error without a code",
    { error: { message: "An internal error has occurred.", status: "INTERNAL" } },
    { status: "timeout", message: "the provider reported an error (internal): An internal error has occurred." },
  ],
  [
    "a text for an error",
    { error: "it broke" },
    { status: "failed", message: "the provider reported an error: it broke" },
  ],
])("%s in mid-stream ends in its outcome (PC-017, PC-021, PC-022, PC-023, PC-025)", async (_, event, outcome) => {
  const body = sse(HI, event, STOP);
  for (const bytesPerWrite of [9, body.length]) {
    const got = await ask(await raw({ body, bytesPerWrite }));
    expect(got.outcome).toEqual(outcome);
    expect(got.complete).toMatchObject([{ text: "Hi", stop_reason: outcome.status }]);
  }
});

test.each([
  [
    "<!doctype html>\n\n<html><head><title>Open\nWebUI</title></head>",
    "the server answered with a web page (Open WebUI); check the base URL",
  ],
  ['{"detail":\n "é"}', 'the server answered with JSON that is no reply ({"detail": "é"}); check the base URL'],
  [
    'data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"x"}}]}\n\ndata: [DONE]\n\n',
    "the server answered with Chat Completions; set the client type of this model to openai-chat",
  ],
  [
    'data: {"type":"message_start","message":{}}\n\n',
    "the server answered with Anthropic Messages; set the client type of this model to anthropic-messages",
  ],
])("the answer %j is no reply, finally, and what to do is said", async (body, words) => {
  for (const bytesPerWrite of [1, body.length * 2]) {
    expect((await ask(await raw({ body, bytesPerWrite }))).outcome).toEqual({
      status: "failed",
      permanent: true,
      message: `the provider reported an error (unsupported_protocol): ${words}`,
    });
  }
});

test("a reply that breaks off is no other answer, though only beats or the beginning came (PC-022)", async () => {
  for (const body of ['data: {"beat":1}\n\ndata: {"beat":2}\n\n', sse({ usageMetadata: {} }), ""]) {
    expect((await ask(await raw({ body }))).outcome).toEqual(BROKEN);
  }
});

test("an event that is no JSON makes the reply malformed (PC-022)", async () => {
  const got = await ask(await raw({ body: `${sse(HI)}data: {"candidates":[{"con\n\n${sse(STOP)}` }));
  expect(got.outcome.status).toBe("malformed");
  expect(got.outcome.message).toMatch(/^the reply cannot be read: /);
});

test("a piece of a call that cannot be read makes the reply malformed (PC-022)", async () => {
  for (const partialArgs of [1, [1], [{ stringValue: "x" }], [{ jsonPath: "$.a", stringValue: 1 }]]) {
    const body = sse(said({ functionCall: { name: "t", partialArgs } }), STOP);
    expect((await ask(await raw({ body }))).outcome).toEqual({
      status: "malformed",
      message: "a piece of a call cannot be read",
    });
  }
});

test("whatever stands in the events, a request ends in an outcome (PC-027)", async () => {
  const name = fc.constantFrom(
    ...["candidates", "content", "parts", "text", "thought", "thoughtSignature", "functionCall", "args", "name", "id"],
    ...["inlineData", "mimeType", "data", "finishReason", "usageMetadata", "promptTokenCount", "error", "code"],
    ...["message", "status", "promptFeedback", "blockReason", "partialArgs", "willContinue", "continuationToken"],
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 6, depthSize: "large" },
      fc.constantFrom<unknown>("STOP", "a", "", 0, 429, -1, true, null),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(name, tie("value"), { maxKeys: 5 }),
    ),
  }));
  const parts = fc.array(value, { maxLength: 3 }).map((each) => ({ candidates: [{ content: { parts: each } }] }));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(value, parts), { maxLength: 5 }), fc.boolean(), async (events, ends) => {
      const body = sse(...events, ...(ends ? [STOP] : []));
      const { outcome } = await askOver([Buffer.from(body)]);
      expect(["completed", "malformed", "failed", "timeout", "auth"]).toContain(outcome.status);
    }),
    { numRuns: 150 },
  );
});

test("an event of more than 64 MiB gives the reply up", async () => {
  const chunk = Buffer.alloc(2 ** 20, "x");
  const endless = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from('data: {"a":"')),
    pull: (controller) => controller.enqueue(chunk),
  });
  const text = await new Response(mendReply(endless)).text();
  expect(text).toContain("an event of the reply is longer than 64 MiB");
});

function failure(code: number, status: string, message: string, details: object[] = []): string {
  return JSON.stringify({ error: { code, message, status, details } });
}

const KEY_INFO = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" };
const QUOTA = { violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }] };

test.each<[string, number, string, LLMOutcome]>([
  [
    "a key that is not valid",
    400,
    failure(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [KEY_INFO]),
    {
      status: "auth",
      message:
        "the provider answered HTTP 400 (invalid_api_key, invalid_argument): API key not valid. Please pass a valid API key.",
    },
  ],
  [
    "no key",
    403,
    failure(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers."),
    {
      status: "auth",
      message:
        "the provider answered HTTP 403 (invalid_api_key, permission_denied): Method doesn't allow unregistered callers.",
    },
  ],
  [
    "refused credentials",
    401,
    failure(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
    {
      status: "auth",
      message: "the provider answered HTTP 401 (unauthenticated): Request had invalid authentication credentials.",
    },
  ],
  [
    "something that is not permitted",
    403,
    failure(403, "PERMISSION_DENIED", "The caller does not have permission"),
    {
      status: "failed",
      permanent: true,
      message: "the provider answered HTTP 403 (permission_denied): The caller does not have permission",
    },
  ],
  [
    "an unknown model",
    404,
    `[${failure(404, "NOT_FOUND", "models/x is not found for API version v1beta")}]`,
    {
      status: "failed",
      permanent: true,
      message: "the provider answered HTTP 404 (not_found): models/x is not found for API version v1beta",
    },
  ],
  [
    "an input that is too long",
    400,
    failure(
      400,
      "INVALID_ARGUMENT",
      "The input token count (9000) exceeds the maximum number of tokens allowed (8192).",
    ),
    {
      status: "failed",
      overflow: true,
      message:
        "the provider answered HTTP 400 (invalid_argument): The input token count (9000) exceeds the maximum number of tokens allowed (8192).",
    },
  ],
  [
    "an input that is too long, in other words",
    400,
    failure(400, "INVALID_ARGUMENT", "the input token count is 9000 but model only supports up to 8192."),
    {
      status: "failed",
      overflow: true,
      message:
        "the provider answered HTTP 400 (invalid_argument): the input token count is 9000 but model only supports up to 8192.",
    },
  ],
  [
    "another bad request",
    400,
    failure(400, "INVALID_ARGUMENT", "Invalid JSON payload received."),
    {
      status: "failed",
      permanent: true,
      message: "the provider answered HTTP 400 (invalid_argument): Invalid JSON payload received.",
    },
  ],
  [
    "a rate limit with its wait in the details",
    429,
    failure(429, "RESOURCE_EXHAUSTED", "Token count per minute exceeds the limit.", [{ retryDelay: "3.5s" }]),
    {
      status: "timeout",
      retryAfterMs: 3500,
      message: "the provider answered HTTP 429 (resource_exhausted): Token count per minute exceeds the limit.",
    },
  ],
  [
    "the quota of a day",
    429,
    failure(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", [QUOTA, { retryDelay: "9s" }]),
    {
      status: "failed",
      permanent: true,
      message:
        "the provider answered HTTP 429 (insufficient_quota, resource_exhausted): You exceeded your current quota.",
    },
  ],
  [
    "overload",
    503,
    failure(503, "UNAVAILABLE", "The model is overloaded."),
    { status: "timeout", message: "the provider answered HTTP 503 (unavailable): The model is overloaded." },
  ],
  [
    "a page of a gateway",
    502,
    "<html><title>Bad Gateway</title></html>",
    { status: "timeout", message: "the provider answered HTTP 502: Bad Gateway" },
  ],
])("an answer that says %s ends in its outcome (PC-017, PC-021, PC-023, PC-025)", async (_, status, body, outcome) => {
  const server = await raw({ status, body, headers: { "content-type": "application/json" } });
  expect((await ask(server)).outcome).toEqual(outcome);
  expect(server.bodies).toHaveLength(1);
});

test("a wait in the headers, in seconds or as a date, counts before that in the details", async () => {
  const body = failure(429, "RESOURCE_EXHAUSTED", "Slow down.", [{ retryDelay: "30s" }]);
  const seconds = await raw({ status: 429, body, headers: { "retry-after": "7" } });
  expect((await ask(seconds)).outcome.retryAfterMs).toBe(7000);
  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
  const date = await raw({ status: 429, body, headers: { "retry-after": inAnHour } });
  expect((await ask(date)).outcome.retryAfterMs).toBeGreaterThan(3_000_000);
});

test("a failure whose words break off is a time-out (PC-021)", async () => {
  const server = await raw((response) => {
    response.writeHead(500, { "content-length": "100" });
    response.write('{"error":', () => response.socket?.resetAndDestroy());
  });
  expect((await ask(server)).outcome.status).toBe("timeout");
});

test("an empty answer that is a failure is one", async () => {
  expect((await ask(await raw({ status: 500, body: "" }))).outcome.status).toBe("timeout");
});

test("the key is in no message (PC-025)", async () => {
  const words = "API key not valid: canary-key-1111";
  const { outcome } = await ask(await raw({ status: 400, body: failure(400, "INVALID_ARGUMENT", words) }));
  expect(outcome.status).toBe("auth");
  expect(outcome.message).not.toContain("canary-key-1111");
});

test.each([
  [{ status: 401 }, "auth"],
  [{ status: 429, retryAfter: 2 }, "timeout"],
  [{ contextLength: true }, "failed"],
  [{ errorEvent: { after: 1, kind: "rate_limit" } }, "timeout"],
  [{ eof: { after: 1, midFrame: true } }, "malformed"],
  [{ reset: true }, "timeout"],
])("the fault %j of the strict server is %s", async (fault, status) => {
  const server = await strict([{ text: "some text", chunk: 2, fault }]);
  expect((await ask(server)).outcome.status).toBe(status);
});
