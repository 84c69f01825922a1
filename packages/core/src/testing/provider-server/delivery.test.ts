import { expect, test } from "vitest";
import { CLIENT_TYPES, post } from "../../../test/support/post-request.ts";
import type { ProviderErrorKind, ProviderFault } from "./faults.ts";
import { startProviderServer } from "./provider-server.ts";

const ERRORS: [ProviderErrorKind, [chat: number, responses: number, anthropic: number, google: number]][] = [
  ["credentials", [401, 401, 401, 400]],
  ["rate-limit", [429, 429, 429, 429]],
  ["overloaded", [503, 503, 529, 503]],
  ["server-error", [500, 500, 500, 500]],
  ["context-overflow", [400, 400, 400, 400]],
  ["unknown-model", [404, 404, 404, 404]],
  ["content-refusal", [400, 400, 400, 200]],
  ["invalid-request", [400, 400, 400, 400]],
  ["out-of-credit", [429, 429, 400, 429]],
];

test.each(ERRORS)("the error %s has the status and the shape of each protocol", async (error, statuses) => {
  await using server = await startProviderServer({ replies: () => ({ fault: { kind: "http-error", error } }) });
  for (const [i, clientType] of CLIENT_TYPES.entries()) {
    const response = await post(server, clientType);
    expect([clientType, response.status]).toEqual([clientType, statuses[i]]);
    const body = (await response.text()).replace(/^data: /, "");
    expect(JSON.parse(body)).toMatchObject(
      error === "content-refusal" && clientType === "google"
        ? { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }
        : { error: { message: expect.any(String), ...SHAPES[clientType] } },
    );
  }
});

const SHAPES = {
  "openai-chat": { type: expect.any(String), param: null },
  "openai-responses": { type: expect.any(String), param: null },
  "anthropic-messages": { type: expect.any(String) },
  google: { code: expect.any(Number), status: expect.any(String) },
};

test("an error may have words of its own and ask for a wait, in seconds or by a date", async () => {
  const date = new Date("2040-01-02T03:04:05Z");
  const limit = { kind: "http-error", error: "rate-limit", message: "slow down" } as const;
  await using server = await startProviderServer({
    replies: [
      {
        faults: [
          { ...limit, retryAfter: 3 },
          { ...limit, retryAfter: date },
        ],
        text: "well",
      },
    ],
  });
  const first = await post(server, "anthropic-messages");
  expect(first.headers.get("retry-after")).toBe("3");
  expect(await first.json()).toEqual({ type: "error", error: { type: "rate_limit_error", message: "slow down" } });
  expect((await post(server, "anthropic-messages")).headers.get("retry-after")).toBe("Mon, 02 Jan 2040 03:04:05 GMT");
  expect(await (await post(server, "anthropic-messages")).text()).toContain("well");
});

test.each(CLIENT_TYPES)(
  "over %s the faults of a list are met one attempt after the other, then all is well",
  async (clientType) => {
    const faults: ProviderFault[] = [
      { kind: "reset" },
      { kind: "reset", afterEvents: 1 },
      { kind: "early-end" },
      { kind: "early-end", afterEvents: 0 },
      { kind: "error-event", error: "overloaded" },
      { kind: "bad-json" },
    ];
    await using server = await startProviderServer({
      replies: [{ text: "A text of more than one delta.", faults }, "next"],
    });
    const answers: string[] = [];
    for (const _ of [...faults, "well"]) answers.push(await received(post(server, clientType)));
    const [noHeaders, cut, early, empty, error, bad, whole = ""] = answers;
    expect(noHeaders).toMatch(/^broken: /);
    expect(cut).toMatch(/^broken: /);
    expect([early, whole].map((text) => FINISHED[clientType]?.test(text ?? ""))).toEqual([false, true]);
    expect(empty).toBe("");
    expect(error).toMatch(/overload/i);
    expect(eventsOf(bad ?? "").filter((data) => !isJson(data))).toHaveLength(1);
    expect(eventsOf(whole).filter((data) => !isJson(data))).toEqual([]);
    expect(server.requests).toHaveLength(faults.length + 1);
    expect(server.requests.some(({ aborted }) => aborted)).toBe(false);
    expect(server.problems).toEqual([]);
  },
);

const FINISHED: Readonly<Record<string, RegExp>> = {
  "openai-chat": /\[DONE\]/,
  "openai-responses": /response\.completed/,
  "anthropic-messages": /message_stop/,
  google: /finishReason/,
};

test.each(CLIENT_TYPES)(
  "over %s a silent stream, and one that never ends, wait for the client to leave",
  async (clientType) => {
    const faults: ProviderFault[] = [
      { kind: "silence" },
      { kind: "silence", afterEvents: 0 },
      { kind: "ignores-abort" },
    ];
    await using server = await startProviderServer({ replies: [{ text: "so far", faults }] });
    for (const [i, fault] of faults.entries()) {
      const leaving = new AbortController();
      const response = await post(server, clientType, undefined, { signal: leaving.signal });
      const reader = response.body?.getReader();
      const expected =
        fault.kind === "ignores-abort" ? /so far.*: heartbeat/s : "afterEvents" in fault ? /^/ : /so far/;
      for (let text = ""; !expected.test(text); ) text += Buffer.from((await reader?.read())?.value ?? []).toString();
      expect(server.requests[i]?.aborted).toBe(false);
      leaving.abort();
      while (!server.requests[i]?.aborted) await new Promise((resolve) => setImmediate(resolve));
    }
  },
);

test.each(CLIENT_TYPES)(
  "closing the server ends open streams over %s, and no client has left then",
  async (clientType) => {
    const server = await startProviderServer({ replies: [{ text: "so far", fault: { kind: "silence" } }] });
    const response = await post(server, clientType);
    await server.close();
    await server.close();
    await expect(response.text()).rejects.toThrow();
    expect(server.requests).toMatchObject([{ aborted: false }]);
  },
);

const UNUSUAL: ProviderFault[] = [
  { kind: "byte-chunks", bytes: 1 },
  { kind: "byte-chunks", bytes: 7 },
  { kind: "split-characters" },
  { kind: "crlf" },
  { kind: "heartbeats" },
];

test.each(CLIENT_TYPES)(
  "over %s bytes that come cut, with other line ends or with comments are the same events",
  async (clientType) => {
    const reply = { thinking: "hm", text: "ä€😀", calls: [{ name: "f", args: { é: 1 }, id: "c" }] };
    for (const fault of UNUSUAL) {
      await using plain = await startProviderServer({ replies: [reply] });
      await using unusual = await startProviderServer({ replies: [{ ...reply, fault }] });
      const text = await received(post(unusual, clientType));
      expect(eventsOf(text)).toEqual(eventsOf(await received(post(plain, clientType))));
      expect(text.includes("\r\n\r\n")).toBe(fault.kind === "crlf");
      expect(text.startsWith(": heartbeat\n\n")).toBe(fault.kind === "heartbeats");
    }
  },
);

test("a reply cut inside of characters arrives in writes of which none ends with a whole one", async () => {
  const fault = { kind: "split-characters" } as const;
  await using server = await startProviderServer({ replies: [{ text: "😀", fault }] });
  const chunks: Uint8Array[] = [];
  for await (const chunk of (await post(server, "google")).body ?? []) chunks.push(chunk);
  expect(chunks.some((chunk) => new TextDecoder().decode(chunk).includes("😀"))).toBe(false);
  expect(Buffer.concat(chunks).toString()).toContain("😀");
});

test.each([
  ["openai-chat", ["call_1", "call_2"], [undefined, undefined], ["call_5", "call_5"], ["f", "f"]],
  ["openai-responses", ["call_1", "call_2"], ["", ""], ["call_5", "call_5"], ["f", "f"]],
  ["anthropic-messages", ["toolu_1", "toolu_2"], ["", ""], ["toolu_5", "toolu_5"], ["f", "f"]],
  ["google", [undefined, undefined], [undefined, undefined], ["f", "f"], ["f", "f"]],
] as const)(
  "over %s the ids of calls are given, missing, the same in a reply, or the tool's name each time",
  async (clientType, ...ids) => {
    const calls = [
      { name: "f", args: { n: 1 } },
      { name: "f", args: { n: 2 } },
    ];
    const fault = (ids: "missing" | "duplicate" | "reused") => ({ kind: "call-ids", ids }) as const;
    const replies = [
      { calls },
      ...(["missing", "duplicate", "reused"] as const).map((kind) => ({ calls, fault: fault(kind) })),
    ];
    await using server = await startProviderServer({ replies });
    for (const expected of ids) {
      const calls = callsIn(await received(post(server, clientType)));
      expect(calls.map(({ call_id, id }) => call_id ?? id)).toEqual(expected);
    }
  },
);

test.each(["openai-chat", "openai-responses", "anthropic-messages"] as const)(
  "over %s split arguments come one character a delta",
  async (clientType) => {
    const calls = [{ name: "f", args: '{"a":1}' }];
    await using server = await startProviderServer({ replies: [{ calls, fault: { kind: "split-arguments" } }] });
    const text = await received(post(server, clientType));
    const deltas = eventsOf(text).flatMap(
      (event) => /(?:"delta"|"partial_json"|"arguments"):"(\\"|.)"/.exec(event)?.[1] ?? [],
    );
    expect(deltas.join("").replaceAll("\\", "")).toBe('{"a":1}');
  },
);

/** What came of an answer, and how it broke off. */
async function received(answer: Promise<Response>): Promise<string> {
  try {
    return await (await answer).text();
  } catch (error) {
    return `broken: ${error}`;
  }
}

/** The data of the events. */
function eventsOf(text: string): string[] {
  return text.split(/\r?\n/).flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
}

function isJson(data: string): boolean {
  try {
    return data === "[DONE]" || JSON.parse(data) !== undefined;
  } catch {
    return false;
  }
}

/** The objects of a stream that begin a call. */
function callsIn(text: string): { id?: string; call_id?: string }[] {
  const found: { id?: string; call_id?: string }[] = [];
  for (const data of eventsOf(text).filter((data) => data !== "[DONE]")) {
    JSON.parse(data, (key, value) => {
      const isCall = value?.type === "function" || value?.type === "tool_use" || key === "functionCall";
      if (isCall || (value?.type === "function_call" && value.status === "in_progress")) found.push(value);
      return value;
    });
  }
  return found;
}
