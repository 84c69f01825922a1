import fc from "fast-check";
import { expect, test } from "vitest";
import { joinDeltas } from "./join-deltas.ts";

const call = { index: 0, id: "a", type: "function", function: { name: "read", arguments: "" } };
const more = { index: 0, function: { arguments: '{"p":"é"}' } };
const envelope = { id: "x", created: 1, model: "m" };

test("text is joined with text, thinking with thinking, calls with calls, and the end with what it ends", () => {
  const sent = [
    { delta: { role: "assistant", content: "" } },
    { delta: { reasoning_content: "th" } },
    { delta: { content: null, reasoning_content: "ink" } },
    { delta: { content: "\ud83c" } },
    { delta: { content: "\udfd4 é" } },
    { delta: { tool_calls: [call] } },
    { delta: { tool_calls: [more] } },
    { delta: {}, finish_reason: "tool_calls" },
  ];
  expect(joined(...sent.map(chunk))).toEqual([
    chunk({ delta: { reasoning_content: "think" } }),
    chunk({ delta: { content: "🏔 é" } }),
    chunk({ delta: { tool_calls: [call, more] }, finish_reason: "tool_calls" }),
  ]);
});

test("usage behind the end is joined where it holds numbers and nothing else", () => {
  const end = chunk({ delta: { content: "a" }, finish_reason: "stop" });
  const usage = { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: null } };
  const counted = { ...envelope, choices: [], usage };
  expect(joined(end, counted)).toEqual([{ ...end, usage }]);
  for (const odd of [
    "many",
    { prompt_tokens: "3" },
    { prompt_tokens_details: { cached_tokens: "1" } },
    { prompt_tokens_details: 5 },
    { a: [1] },
  ]) {
    const sent = [end, { ...counted, usage: odd }];
    expect(joined(...sent)).toEqual(sent);
  }
  const early = [chunk({ delta: { content: "a" } }), counted];
  expect(joined(...early)).toEqual(early);
});

test.each<[string, object]>([
  ["usage", { ...envelope, choices: [], usage: { prompt_tokens: "many" } }],
  ["usage beside text", { ...chunk({ delta: { content: "b" } }), usage: { prompt_tokens: 1 } }],
  ["an error", { ...chunk({ delta: { content: "b" } }), error: null }],
  ["no choice", { ...envelope, choices: [], prompt_filter_results: [] }],
  ["two choices", { ...envelope, choices: [{ delta: { content: "b" } }, { delta: { content: "c" } }] }],
  ["a refusal", chunk({ delta: { refusal: "no" } })],
  ["two kinds", chunk({ delta: { reasoning: "b", content: "c" } })],
  ["text of another form", chunk({ delta: { content: [{ type: "text", text: "b" }] } })],
  ["calls of another form", chunk({ delta: { tool_calls: "b" } })],
  ["a whole message", chunk({ message: { content: "b" } })],
  ["an end of another form", chunk({ delta: { content: "b" }, finish_reason: 1 })],
  ["no delta", chunk({ delta: 1 })],
])("an event with %s stays as it is, and in its place", (_, event) => {
  const [a, b, c] = ["a", "b", "c"].map((content) => chunk({ delta: { content } }));
  expect(joined(a, event, b, c)).toEqual([a, event, chunk({ delta: { content: "bc" } })]);
});

test("text behind the end is not put before it", () => {
  const sent = [chunk({ delta: { content: "a" }, finish_reason: "stop" }), chunk({ delta: { content: "b" } })];
  expect(joined(...sent)).toEqual(sent);
});

test("comments, other fields, other line ends and what is no JSON stay byte for byte", () => {
  const text =
    ': alive\n\ndata: {"a\n\nevent: x\ndata: {"choices":[{"delta":{"content":"a"}}]}\n\n' +
    'data: {"choices":[{"delta":{"content":"b"}}]}\r\n\r\ndata: [DONE]\n\n';
  expect(joinDeltas(text)).toBe(text);
});

test("whatever comes together says the same as what comes piece by piece", () => {
  const delta = fc.oneof(
    fc.record({ content: fc.string({ unit: "binary" }) }),
    fc.record({ reasoning: fc.string() }),
    fc.record({ tool_calls: fc.array(fc.constantFrom(call, more), { maxLength: 2 }) }),
    fc.record({ content: fc.string(), reasoning: fc.string() }),
    fc.constant({}),
  );
  fc.assert(
    fc.property(fc.array(delta, { maxLength: 12 }), (deltas) => {
      const sent = deltas.map((each) => chunk({ delta: each }));
      expect(runs(joined(...sent))).toEqual(runs(sent));
    }),
  );
});

function chunk(choice: object): object {
  return { ...envelope, choices: [choice] };
}

function joined(...chunks: readonly (object | undefined)[]): unknown[] {
  const text = joinDeltas(chunks.map((each) => latin1(`data: ${JSON.stringify(each)}\n\n`)).join(""));
  const events = text.split("\n\n").filter((event) => event !== "");
  return events.map((event) => JSON.parse(Buffer.from(event.slice(6), "latin1").toString()));
}

function latin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** What is said, each run of one kind as one. */
function runs(chunks: readonly unknown[]): [kind: string, said: unknown][] {
  const said: [string, unknown][] = [];
  for (const each of chunks) {
    const { choices } = each as { choices: { delta: Record<string, unknown> }[] };
    // The order in which the package looks at them.
    for (const kind of ["reasoning", "content", "tool_calls"]) {
      const value = choices[0]?.delta[kind];
      for (const piece of typeof value === "string" ? [...value] : ((value as unknown[]) ?? [])) {
        const last = said.at(-1);
        if (last?.[0] === kind && typeof piece === "string") last[1] = `${last[1]}${piece}`;
        else said.push([kind, piece]);
      }
    }
  }
  return said;
}
