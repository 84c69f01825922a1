import fc from "fast-check";
import { expect, test } from "vitest";
import type { ApproveFn } from "../src/approval/contract.ts";
import { defineTool } from "../src/environment/agent-tool.ts";
import type { GenerativeModelConfig, LLMOutcome } from "../src/llm/contract.ts";
import { GenerativeModel } from "../src/llm/generative-model.ts";
import { modelMessage, userText } from "../src/omnimessage/build.ts";
import { isCompleteModelMessage, isPartialPayload, ofType } from "../src/omnimessage/guards.ts";
import type { OmniMessage } from "../src/omnimessage/message.ts";
import type { Session } from "../src/session/session.ts";
import {
  collectRun,
  type ProviderClientType,
  type ProviderFault,
  type ProviderServer,
  type ProviderTurn,
  startProviderServer,
  type TempAgent,
  tempAgent,
} from "../src/testing/index.ts";
import { collectReply } from "./support/collect-reply.ts";
import { impatient } from "./support/impatient-session.ts";
import { CLIENT_TYPES } from "./support/post-request.ts";
import { startStrictServer } from "./support/strict-server.ts";

const allow: ApproveFn = async () => "allow";
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const MODELS: Readonly<Record<ProviderClientType, string>> = {
  "openai-chat": "deepseek-chat",
  "openai-responses": "gpt-5.1",
  "anthropic-messages": "claude-sonnet-4-5",
  google: "gemini-3-pro-preview",
};

const tools = ["look", "note"].map((name) => ({
  name,
  description: "Looks.",
  parameters: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
}));

function modelOf(clientType: ProviderClientType, baseUrl: string, config: Partial<GenerativeModelConfig> = {}) {
  const modelId = MODELS[clientType];
  return new GenerativeModel({ modelId, clientType, baseUrl, apiKey: "k", tools, thinkingLevel: "high", ...config });
}

const REPLIES: ProviderTurn[] = [
  { text: "Just text: ä€😀." },
  { thinking: "Hm, hm, hm, hm, hm.", text: "Thought about." },
  {
    thinking: "Two things to look at.",
    text: "Looking.",
    calls: [
      { name: "look", args: { at: "a", deep: { list: [1, "é", null] } } },
      { name: "look", args: { at: "b" } },
    ],
  },
  { calls: [{ name: "look", args: {} }], usage: { cache_read: 100, cache_write: 7, output: 40 } },
  { text: "cut in the mid", finishReason: "length" },
  { text: "I will not.", finishReason: "content_filter" },
  {
    text: "Broken.",
    calls: [
      { name: "look", args: '{"at": ' },
      { name: "look", args: { at: "b" } },
    ],
  },
];

test.each(REPLIES)(
  "over each protocol %j gives the same segments and complete messages in the same order, but for ids, fidelity and the length of deltas (PC-012, PC-013, PC-020, PC-040, PC-051)",
  async (reply) => {
    const [first, ...others] = await Promise.all(
      CLIENT_TYPES.map(async (clientType) => {
        await using server = await startProviderServer({ replies: [reply] });
        const model = modelOf(clientType, server.baseUrl(clientType));
        const { messages, outcome } = await collectReply(model, { newMessages: [userText("go")] });
        return { outcome, ...comparable(messages) };
      }),
    );
    for (const other of others) expect(other).toEqual(first);
    expect(first?.outcome.status).toBe("completed");
  },
);

/**
 * The fragments of each segment, its deltas joined, in the order in which the segments begin; and everything else as it
 * came. Fragments of parallel calls may be mixed: a protocol without an end of a call ends all of them with the reply.
 */
function comparable(messages: readonly OmniMessage[]): { segments: unknown[]; complete: unknown[] } {
  const ids = new Map<unknown, string>();
  const segments: Record<string, unknown>[] = [];
  const complete: unknown[] = [];
  for (const { payload } of messages) {
    const { fidelity: _, ...rest } = { fidelity: undefined, ...payload } as Record<string, unknown>;
    if ("tool_call_id" in rest) {
      if (!ids.has(rest.tool_call_id)) ids.set(rest.tool_call_id, `call ${ids.size}`);
      rest.tool_call_id = ids.get(rest.tool_call_id);
    }
    if (!isPartialPayload(payload)) complete.push(rest);
    else if (payload.event_type === "start") segments.push(rest);
    else {
      const open = segments.findLast(
        ({ type, tool_call_id }) => type === rest.type && tool_call_id === rest.tool_call_id,
      );
      for (const field of ["text", "thinking", "arguments"]) {
        if (open && field in rest) open[field] = `${open[field]}${rest[field]}`;
      }
      if (open) open.stop_reason = rest.stop_reason;
    }
  }
  return { segments, complete };
}

test("thinking, text and calls in any order give the same complete messages over each protocol that keeps an order (PC-047, PC-051)", async () => {
  const parts = [
    { thinking: "one" },
    { text: "A" },
    { call: look("a") },
    { text: "B" },
    { thinking: "two" },
    { call: look("b") },
    { text: "C" },
  ];
  const found = await Promise.all(
    (["openai-responses", "anthropic-messages", "google"] as const).map(async (clientType) => {
      await using server = await startProviderServer({ replies: [{ parts }] });
      const model = modelOf(clientType, server.baseUrl(clientType));
      const { messages } = await collectReply(model, { newMessages: [userText("go")] });
      return comparable(messages).complete;
    }),
  );
  expect(found[0]).toMatchObject([
    { thinking: "one" },
    { text: "A" },
    { arguments: '{"at":"a"}' },
    { text: "B" },
    { thinking: "two" },
    { arguments: '{"at":"b"}' },
    { text: "C" },
    { type: "token_usage" },
  ]);
  for (const other of found) expect(other).toEqual(found[0]);
});

test("any conversation gives the same complete messages over each protocol, and comes back whole, after a resume too (PC-038, PC-039, PC-041, PC-051)", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyReply, { minLength: 1, maxLength: 3 }), async (replies) => {
      const said = await Promise.all(
        CLIENT_TYPES.map(async (clientType) => {
          await using server = await startProviderServer({
            replies: [...replies, ...replies.map(() => "On."), "Resumed."],
          });
          const model = modelOf(clientType, server.baseUrl(clientType));
          let history: OmniMessage[] = [];
          while (server.requests.length < replies.length) history = await talk(model, history);
          const resumed = modelOf(clientType, server.baseUrl(clientType));
          resumed.setHistory(history);
          await collectReply(resumed, { newMessages: [userText("And now?")] });
          expect([clientType, server.problems]).toEqual([clientType, []]);
          return comparable(history).complete;
        }),
      );
      for (const other of said) expect(other).toEqual(said[0]);
    }),
    { numRuns: 5 },
  );
});

const oddText = fc
  .array(
    fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("data: ", "\r\n\n", "[DONE]", "\u2028", "😀", '"')),
    { maxLength: 4 },
  )
  .map((texts) => texts.join(""));

const anyArguments = fc.dictionary(
  fc.constantFrom("at", "__proto__", "constructor", "é"),
  fc.jsonValue({ maxDepth: 1 }),
);

const anyReply: fc.Arbitrary<ProviderTurn> = fc.record(
  {
    // Thinking of no text stands for its fidelity, and chat has none.
    thinking: oddText.filter((text) => text !== ""),
    text: oddText,
    calls: fc.array(fc.record({ name: fc.constant("look"), args: anyArguments }), { maxLength: 3 }),
    deltaCharacters: fc.integer({ min: 1, max: 20 }),
  },
  { requiredKeys: ["deltaCharacters"] },
);

const TIMEOUT: LLMOutcome = { status: "timeout" };
const PERMANENT: LLMOutcome = { status: "failed", permanent: true };
const COMPLETED: LLMOutcome = { status: "completed", finishReason: "tool_calls" };

test.each<[ProviderFault, LLMOutcome]>([
  [{ kind: "http-error", error: "credentials" }, { status: "auth" }],
  [{ kind: "http-error", error: "rate-limit" }, TIMEOUT],
  [
    { kind: "http-error", error: "rate-limit", retryAfter: 3 },
    { ...TIMEOUT, retryAfterMs: 3000 },
  ],
  [{ kind: "http-error", error: "overloaded" }, TIMEOUT],
  [{ kind: "http-error", error: "server-error" }, TIMEOUT],
  [
    { kind: "http-error", error: "context-overflow" },
    { status: "failed", overflow: true },
  ],
  [{ kind: "http-error", error: "unknown-model" }, PERMANENT],
  [{ kind: "http-error", error: "content-refusal" }, PERMANENT],
  [{ kind: "http-error", error: "invalid-request" }, PERMANENT],
  [{ kind: "http-error", error: "out-of-credit" }, PERMANENT],
  [{ kind: "reset" }, TIMEOUT],
  [{ kind: "reset", afterEvents: 1 }, TIMEOUT],
  [{ kind: "early-end" }, { status: "malformed" }],
  [{ kind: "early-end", afterEvents: 0 }, { status: "malformed" }],
  [{ kind: "error-event", error: "overloaded" }, TIMEOUT],
  [{ kind: "error-event", error: "rate-limit", afterEvents: 0 }, TIMEOUT],
  [{ kind: "error-event", error: "server-error" }, TIMEOUT],
  [{ kind: "error-event", error: "invalid-request" }, PERMANENT],
  [
    { kind: "error-event", error: "context-overflow", afterEvents: 0 },
    { status: "failed", overflow: true },
  ],
  [{ kind: "bad-json" }, { status: "malformed" }],
  [{ kind: "silence" }, TIMEOUT],
  [{ kind: "byte-chunks", bytes: 5 }, COMPLETED],
  [{ kind: "split-characters" }, COMPLETED],
  [{ kind: "crlf" }, COMPLETED],
  [{ kind: "heartbeats" }, COMPLETED],
  [{ kind: "split-arguments" }, COMPLETED],
  [{ kind: "call-ids", ids: "missing" }, COMPLETED],
  [{ kind: "call-ids", ids: "duplicate" }, COMPLETED],
  [{ kind: "call-ids", ids: "reused" }, COMPLETED],
])(
  "the fault %j ends in the same outcome over each protocol, with one request (PC-015, PC-016, PC-017, PC-021, PC-022, PC-023, PC-025, PC-027, PC-028)",
  async (fault, expected) => {
    const calls = [
      { name: "look", args: { at: "ä€😀" } },
      { name: "look", args: { at: "b" } },
    ];
    const found = await Promise.all(
      CLIENT_TYPES.map(async (clientType) => {
        await using server = await startProviderServer({ replies: [{ thinking: "hm", text: "ä€😀", calls, fault }] });
        const requestTimeoutMs = fault.kind === "silence" ? 100 : 10_000;
        const model = modelOf(clientType, server.baseUrl(clientType), { requestTimeoutMs });
        const { outcome, complete } = await collectReply(model, { newMessages: [userText("go")] });
        const { message, ...rest } = outcome;
        const ids = complete.flatMap((payload) => (payload.type === "tool_call" ? [payload.tool_call_id] : []));
        expect(ids).not.toContain("");
        return [clientType, rest, message !== undefined, new Set(ids).size === ids.length, server.requests.length];
      }),
    );
    const told = expected.status !== "completed";
    expect(found).toEqual(CLIENT_TYPES.map((clientType) => [clientType, expected, told, true, 1]));
  },
);

test.each(CLIENT_TYPES)(
  "an abort over %s ends the request though the server be silent, or send on, and the server sees it (PC-010, PC-024)",
  async (clientType) => {
    for (const kind of ["silence", "ignores-abort"] as const) {
      await using server = await startProviderServer({ replies: [{ text: "so far", fault: { kind } }] });
      const model = modelOf(clientType, server.baseUrl(clientType));
      const abort = new AbortController();
      const { outcome, complete } = await collectReply(
        model,
        { newMessages: [userText("go")], signal: abort.signal },
        ({ payload }) => {
          if (payload.type === "partial_text" && payload.text !== "") abort.abort();
        },
      );
      expect(outcome).toEqual({ status: "aborted" });
      expect(complete).toMatchObject([{ type: "text", text: "so far", stop_reason: "aborted" }]);
      while (!server.requests[0]?.aborted) await new Promise((resolve) => setImmediate(resolve));
    }
  },
);

// Whole sessions.

test.each(CLIENT_TYPES)(
  "a task with thinking, parallel calls and an image goes well over %s through one fault after the other, and no call runs twice (PC-021, PC-022, PC-041, PC-051)",
  async (clientType) => {
    const faults: ProviderFault[] = [
      { kind: "reset" },
      { kind: "http-error", error: "overloaded" },
      { kind: "reset", afterEvents: 2 },
      { kind: "early-end", afterEvents: 3 },
      { kind: "bad-json", atEvent: 2 },
    ];
    const thinking = "There are two places that I should look at before I say anything about them.";
    await using server = await startProviderServer({
      replies: [
        { thinking, text: "Looking.", calls: [look("a"), look("b")], faults },
        {
          thinking: `${thinking} And then the picture.`,
          calls: [look("picture")],
          faults: [{ kind: "error-event", error: "overloaded", afterEvents: 2 }],
        },
        { thinking: "Seen.", text: "A pixel.", fault: { kind: "byte-chunks", bytes: 3 } },
        { thinking: "Again?", text: "As I said.", fault: { kind: "crlf" } },
      ],
    });
    const ran: string[] = [];
    await using temp = await tempAgent({ tools: [lookTool(ran)] });
    const session = await sessionOver(clientType, server, temp);
    const first = await collectRun(impatient(session), [userText("What is there?")], { approve: allow });
    expect(first.outcome).toMatchObject({ status: "completed", text: "A pixel.", turns: 3 });
    const second = await collectRun(impatient(session), [userText("And now?")], { approve: allow });
    expect(second.outcome).toMatchObject({ status: "completed", text: "As I said." });
    expect(ran.toSorted()).toEqual(["a", "b", "picture"]);
    expect(server.problems).toEqual([]);
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain(PIXEL);
    const thoughts = ofType(second.trace, "thinking").map(({ payload }) => payload.thinking);
    expect(thoughts.slice(-2)).toEqual(["Seen.", "Again?"]);
  },
);

test.each(CLIENT_TYPES)(
  "a reply over %s that breaks off behind its calls is asked for again, with a note of those that ran",
  async (clientType) => {
    const ran: string[] = [];
    await using server = await startProviderServer({
      replies: [
        { thinking: "Hm.", calls: [look("a"), look("b")], fault: { kind: "early-end" } },
        { thinking: "I see.", text: "Done." },
        "Bye.",
      ],
    });
    await using temp = await tempAgent({ tools: [lookTool(ran)] });
    const session = await sessionOver(clientType, server, temp);
    const { outcome } = await collectRun(impatient(session), [userText("Go")], { approve: allow });
    expect(outcome).toMatchObject({ status: "completed", text: "Done.", turns: 1 });
    // Chat ends its calls with the reply, so that none has begun.
    expect(ran).toEqual(clientType === "openai-chat" ? [] : ["a"]);
    const note = JSON.stringify(server.requests[1]?.body).includes("[turn_retried]");
    expect(note).toBe(clientType !== "openai-chat");
    await collectRun(session, [userText("Bye")], { approve: allow });
    expect(server.problems).toEqual([]);
  },
);

const IDS = ["missing", "duplicate", "reused"] as const;

test.each(CLIENT_TYPES.flatMap((clientType) => IDS.map((ids) => [clientType, ids] as const)))(
  "over %s calls whose ids are %s run once each and are answered each (PC-048, PC-049, PC-050)",
  async (clientType, ids) => {
    const fault = { kind: "call-ids", ids } as const;
    await using server = await startProviderServer({
      replies: [
        { calls: [look("a"), look("b")], fault },
        { thinking: "More.", calls: [look("c"), look("d")], fault },
        "Done.",
      ],
    });
    const ran: string[] = [];
    await using temp = await tempAgent({ tools: [lookTool(ran)] });
    const session = await sessionOver(clientType, server, temp);
    const { outcome, trace } = await collectRun(session, [userText("Go")], { approve: allow });
    expect(outcome).toMatchObject({ status: "completed", text: "Done.", turns: 3 });
    expect(ran.toSorted()).toEqual(["a", "b", "c", "d"]);
    expect(new Set(ofType(trace, "tool_call").map(({ payload }) => payload.tool_call_id)).size).toBe(4);
    expect(server.problems).toEqual([]);
  },
);

test.each(CLIENT_TYPES)(
  "over %s calls that cannot be read, or were cut, are answered and not run, and the next request is in order",
  async (clientType) => {
    await using server = await startProviderServer({
      replies: [
        { thinking: "Hm.", text: "Trying.", calls: [{ name: "look", args: '{"at": ' }, look("a")] },
        { thinking: "Again.", calls: [look("b"), look("cut")], finishReason: "length" },
        "Done.",
      ],
    });
    const ran: string[] = [];
    await using temp = await tempAgent({ tools: [lookTool(ran)] });
    const session = await sessionOver(clientType, server, temp);
    const { outcome, trace } = await collectRun(session, [userText("Go")], { approve: allow });
    expect(outcome).toMatchObject({ status: "completed", text: "Done.", turns: 3 });
    expect(ran.toSorted()).toEqual(["a", "b"]);
    const ends = ofType(trace, "tool_call_output").map(({ payload }) => payload.stop_reason);
    expect(ends.toSorted()).toEqual(["completed", "completed", "failed", "failed"]);
    expect(server.problems).toEqual([]);
  },
);

function sessionOver(clientType: ProviderClientType, server: ProviderServer, temp: TempAgent): Promise<Session> {
  return temp.agent.createSession({
    workspaceDir: temp.workspaceDir,
    provider: "custom",
    modelId: MODELS[clientType],
    clientType,
    baseUrl: server.baseUrl(clientType),
    thinkingLevel: "high",
  });
}

function look(at: string) {
  return { name: "look", args: { at } };
}

/** Notes where it looks; the picture is an image. */
function lookTool(ran: string[]) {
  return defineTool({
    name: "look",
    label: "look",
    description: "Looks.",
    parameters: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
    execute: async (_id: string, { at }: Record<string, unknown>) => {
      ran.push(String(at));
      const image = { type: "image", data: PIXEL, mimeType: "image/png" } as const;
      return { content: [{ type: "text", text: `seen ${at}` }, ...(at === "picture" ? [image] : [])], details: {} };
    },
  });
}

// From one protocol to another.

const PAIRS = CLIENT_TYPES.flatMap((from) => CLIENT_TYPES.filter((to) => to !== from).map((to) => [from, to] as const));

test.each(PAIRS)(
  "a history made over %s goes on over %s, and neither server finds a problem (PC-039, PC-041, PC-051)",
  async (from, to) => {
    await using server = await startProviderServer({
      replies: [
        { thinking: "Two places.", text: "Looking.", calls: [look("a"), look("b")] },
        { thinking: "Both seen.", text: "Both are there." },
        { thinking: "Once more.", text: "On we go.", calls: [look("c")] },
        { thinking: "That is all.", text: "Done." },
      ],
    });
    const history = await talk(modelOf(from, server.baseUrl(from)), []);
    const model = modelOf(to, server.baseUrl(to));
    model.setHistory(history);
    const whole = await talk(model, history);
    expect(server.problems).toEqual([]);
    expect(server.requests.map(({ clientType }) => clientType)).toEqual([from, from, to, to]);
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    for (const word of ["What is there?", "Looking.", "seen a", "seen b", PIXEL, "Both are there.", "seen c"]) {
      expect(sent).toContain(word);
    }
    expect(whole.flatMap(({ payload }) => (payload.type === "text" ? [payload.text] : [])).at(-1)).toBe("Done.");

    const strict = await startStrictServer({ scripts: { default: [{ thinking: "Strictly.", text: "Fine." }] } });
    try {
      const last = modelOf(to, to.startsWith("openai") ? `${strict.url}/v1` : strict.url);
      last.setHistory(history);
      expect((await collectReply(last, { newMessages: [userText("Go on.")] })).outcome.status).toBe("completed");
      expect([strict.violations, strict.warnings]).toEqual([[], []]);
    } finally {
      await strict.close();
    }
  },
);

/** Asks, answers the calls of the reply, and adds what was said to the history. */
async function talk(model: GenerativeModel, history: readonly OmniMessage[]): Promise<OmniMessage[]> {
  const said: OmniMessage[] = [...history];
  for (let input: OmniMessage[] = [userText("What is there?")]; input.length > 0; ) {
    const { outcome, messages } = await collectReply(model, { newMessages: input });
    expect(outcome.status).toBe("completed");
    said.push(...input, ...messages.filter(isCompleteModelMessage));
    input = ofType(messages, "tool_call").map(({ payload }) => answer(payload.tool_call_id, payload.arguments));
  }
  return said;
}

function answer(tool_call_id: string, args: string): OmniMessage {
  const output = `seen ${JSON.parse(args).at}`;
  const images = [`data:image/png;base64,${PIXEL}`];
  return modelMessage({
    type: "tool_call_output",
    role: "user",
    output,
    images,
    tool_call_id,
    stop_reason: "completed",
  });
}

test.each([
  ["openai-chat", "reasoning_content", 'the thinking "Two places." is missing'],
  ["openai-responses", "encrypted_content", 'the encrypted_content of the thinking "Two places." is missing'],
  ["anthropic-messages", "signature", 'the signature of the thinking "Two places." is missing'],
  ["google", "thoughtSignature", "the thoughtSignature of the call look is missing"],
] as const)("over %s the server would notice if %s did not come back (PC-041)", async (clientType, field, problem) => {
  await using server = await startProviderServer({
    replies: [{ thinking: "Two places.", text: "Looking.", calls: [look("a"), look("b")] }, "Done."],
  });
  const lossy: typeof fetch = (input, init) => {
    const body = JSON.stringify(JSON.parse(String(init?.body)), (key, value) => (key === field ? undefined : value));
    return fetch(input, { ...init, body });
  };
  await talk(modelOf(clientType, server.baseUrl(clientType), { fetch: lossy }), []);
  expect(server.problems).toEqual([`request 2 (${clientType}): ${problem}`]);
});
