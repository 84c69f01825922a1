import { expect, test } from "vitest";
import { modelOver, raw, readFile } from "../../../../test/support/adapter-kit.ts";
import { answers, ask, textOf, thinkingOf } from "../../../../test/support/ask.ts";
import { chunk, reply, sse, toolCall } from "../../../../test/support/chat-wire.ts";
import { userText } from "../../../omnimessage/build.ts";
import { isCompleteModelMessage } from "../../../omnimessage/guards.ts";

const model = modelOver("openai-chat", { tools: [readFile] });

const call = toolCall({ index: 0, id: "c1", function: { name: "read_file", arguments: '{"path":"a"}' } });
const ok = { body: reply({ content: "ok" }) };

function details(...reasoning_details: object[]): object {
  return { reasoning_details };
}

/** A signed text in pieces, as Claude's comes. */
const signed = [
  { reasoning: "Let", ...details({ type: "reasoning.text", text: "Let", format: "anthropic-claude-v1", index: 0 }) },
  { reasoning: " me", ...details({ type: "reasoning.text", text: " me", format: "anthropic-claude-v1", index: 0 }) },
  details({ type: "reasoning.text", text: null, signature: "SIG==", format: "anthropic-claude-v1", index: 0 }),
];
const signedWhole = {
  type: "reasoning.text",
  text: "Let me",
  format: "anthropic-claude-v1",
  index: 0,
  signature: "SIG==",
};
const encrypted = { type: "reasoning.encrypted", data: "é/+==", id: "c1", format: "google-gemini-v1", index: 0 };

test.each([1, 7, 100_000])(
  "a gateway gets its details back whole and in order, on the reply they came with (%i bytes at a time; PC-041)",
  async (bytesPerWrite) => {
    const body = reply(...signed, { content: "So" }, { ...call, ...details(encrypted) });
    const server = await raw({ body, bytesPerWrite }, ok);
    const llm = model(server, { modelId: "anthropic/claude-sonnet-4.5" });
    const got = await ask(llm);
    expect(thinkingOf(got)).toEqual(["Let me"]);
    expect((await ask(llm, ...answers(got))).outcome.status).toBe("completed");
    const sent = server.bodies[1].messages[1];
    expect(sent).toEqual({
      role: "assistant",
      content: "So",
      tool_calls: [{ id: "c1", type: "function", function: { name: "read_file", arguments: '{"path":"a"}' } }],
      reasoning_details: [signedWhole, encrypted],
    });
    expect(JSON.stringify(sent.reasoning_details)).toContain(JSON.stringify(encrypted));
  },
);

test.each<[string, object[]]>([
  ["a call", [{ ...call, ...details(encrypted) }]],
  ["a call behind a text", [{ content: "So" }, call, details(encrypted)]],
  ["a text", [{ content: "So" }, details(encrypted)]],
  ["a thought", [{ reasoning: "hm", ...details(encrypted) }]],
  ["a thought that ends late", [{ reasoning: "hm" }, { content: "So" }, details(encrypted)]],
])(
  "details that come with %s go back, and from a history that was recorded too (PC-039, PC-041)",
  async (_, deltas) => {
    const server = await raw({ body: reply(...deltas) }, ok);
    const settings = { modelId: "google/gemini-3-pro-preview" };
    const llm = model(server, settings);
    const got = await ask(llm);
    const next = "tool_calls" in (deltas.at(-1) ?? {}) || deltas.includes(call) ? answers(got) : [userText("and?")];
    await ask(llm, ...next);
    const resumed = model(server, settings);
    resumed.setHistory(JSON.parse(JSON.stringify([userText("go"), ...got.messages.filter(isCompleteModelMessage)])));
    await ask(resumed, ...next);
    expect(server.bodies[1].messages[1].reasoning_details).toEqual([encrypted]);
    expect(server.bodies[2]).toEqual(server.bodies[1]);
  },
);

test("what stands in one JSON body goes back as it stood", async () => {
  const reasoning_details = [signedWhole, { ...signedWhole, index: 1, text: "More" }, encrypted];
  const message = { role: "assistant", content: "So", reasoning: "Let meMore", reasoning_details };
  const server = await raw({ body: JSON.stringify({ choices: [{ message, finish_reason: "stop" }] }) }, ok);
  const llm = model(server, { modelId: "anthropic/claude-sonnet-4.5" });
  await ask(llm);
  await ask(llm, userText("and?"));
  expect(server.bodies[1].messages[1].reasoning_details).toEqual(reasoning_details);
});

test("summaries are joined by their place; encrypted details stay apart, and one that comes twice counts once", async () => {
  const summary = (text: string, index: number): object => details({ type: "reasoning.summary", summary: text, index });
  const other = { ...encrypted, id: "c2", data: "other" };
  const server = await raw(
    {
      body: reply(
        { reasoning: "ab", ...summary("a", 0) },
        summary("x", 1),
        summary("b", 0),
        details({ type: "reasoning.text", text: "p" }, { type: "reasoning.text", text: "q" }),
        details(encrypted, other, encrypted),
        { content: "So" },
      ),
    },
    ok,
  );
  const llm = model(server, { modelId: "openai/gpt-5" });
  await ask(llm);
  await ask(llm, userText("and?"));
  expect(server.bodies[1].messages[1]).toEqual({
    role: "assistant",
    content: "So",
    reasoning_details: [
      { type: "reasoning.summary", summary: "ab", index: 0 },
      { type: "reasoning.summary", summary: "x", index: 1 },
      { type: "reasoning.text", text: "pq" },
      encrypted,
      other,
    ],
  });
});

test("details go back to nobody but who gave them out: no other server, no other vendor's model", async () => {
  const server = await raw({ body: reply(...signed, { content: "So" }) }, ok);
  const got = await ask(model(server, { modelId: "anthropic/claude-sonnet-4.5" }));
  const history = [userText("go"), ...got.messages.filter(isCompleteModelMessage)];
  const elsewhere = await raw(ok);
  for (const [other, modelId] of [
    [elsewhere, "anthropic/claude-sonnet-4.5"],
    [server, "google/gemini-3"],
  ] as const) {
    const llm = model(other, { modelId });
    llm.setHistory(history);
    await ask(llm, userText("and?"));
    const sent = other.bodies.at(-1).messages[1];
    expect(sent).toEqual({ role: "assistant", content: "So", reasoning_content: "Let me" });
  }
  const opus = model(server, { modelId: "anthropic/claude-opus-4.5" });
  opus.setHistory(history);
  await ask(opus, userText("and?"));
  expect(server.bodies.at(-1).messages[1].reasoning_details).toEqual([signedWhole]);
});

test("details nested however deeply are no hindrance", async () => {
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  const body = `data: {"choices":[{"delta":{"content":"So","reasoning_details":[{"type":"x","data":${deep}}]}}]}\n\n`;
  const server = await raw({ body: body + reply(details(encrypted)) }, ok);
  const llm = model(server, { modelId: "custom" });
  expect((await ask(llm)).outcome.status).toBe("completed");
  await ask(llm, userText("and?"));
  expect(server.bodies[1].messages[1].reasoning_details).toEqual([encrypted]);
});

test.each([null, 7, "x", {}, [null, 7, "x", []], [{}], [{ type: 7, index: {} }]])(
  "details of %j are no hindrance (PC-027)",
  async (reasoning_details) => {
    const body = sse(chunk({ content: "So", reasoning_details }), chunk({ reasoning_details }), chunk({}, "stop"));
    const server = await raw({ body }, ok);
    const llm = model(server, { modelId: "custom" });
    expect(textOf(await ask(llm))).toBe("So");
    expect((await ask(llm, userText("and?"))).outcome.status).toBe("completed");
  },
);
