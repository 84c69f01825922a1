import { expect } from "vitest";
import type { GenerativeModel } from "../../src/llm/generative-model.ts";
import { userImage, userText } from "../../src/omnimessage/build.ts";
import type { OmniMessage } from "../../src/omnimessage/message.ts";
import { PIXEL, reads } from "./adapter-kit.ts";
import { answers, ask, textOf } from "./ask.ts";
import type { CollectedReply } from "./collect-reply.ts";

/** The script for {@link readBoth}; `fields` are of its first turn. */
export function readingTurns(fields: object = {}): unknown[] {
  const reading = { thinking: "I should look at both.", text: "Reading.", tools: reads("a", "é🙂"), chunk: 3 };
  return [{ ...reading, interleave: true, ...fields }, "Both read.", "Yes."];
}

/** Two files are read side by side, their outputs come in another order, and something is asked. @returns The first reply. */
export async function readBoth(llm: GenerativeModel): Promise<CollectedReply> {
  const first = await ask(llm);
  expect(first.outcome).toEqual({ status: "completed", finishReason: "tool_calls" });
  expect(first.complete.slice(-3)).toMatchObject([
    { type: "text", text: "Reading." },
    { type: "tool_call", name: "read_file", arguments: '{"path":"a"}' },
    { type: "tool_call", name: "read_file", arguments: '{"path":"é🙂"}' },
  ]);
  expect(textOf(await ask(llm, ...answers(first).reverse()))).toBe("Both read.");
  expect(textOf(await ask(llm, userText("sure?")))).toBe("Yes.");
  return first;
}

/** Thirty turns with thinking, parallel calls and, two in a row at every third, faults. */
export function longScript(): { text?: string; tools?: object[]; faults?: object[] }[] {
  return Array.from({ length: 30 }, (_, n) => ({
    ...(n % 4 !== 3 && { thinking: `thought ${n} é …` }),
    ...(n % 5 === 4 && { redacted: true }),
    ...((n % 3 !== 2 || n % 5 === 4) && { text: `turn ${n}: what was said at some length 🙂` }),
    ...(n % 5 !== 4 && { tools: reads(...["a", "é", "c"].slice(0, 1 + (n % 3)).map((path) => `${path}${n}`)) }),
    interleave: n % 2 === 0,
    chunk: 6,
    ...(n % 3 === 1 && { faults: [FAULTS[n % FAULTS.length] ?? {}, FAULTS[(n + 5) % FAULTS.length] ?? {}] }),
  }));
}

const FAULTS = [
  { status: 503 },
  { status: 429, retryAfter: 1 },
  { status: 529 },
  { reset: true },
  { reset: { after: 1 } },
  { reset: { after: "delta:2", midFrame: true } },
  { eof: true },
  { eof: { after: 4, midFrame: true } },
  { eof: { after: "finish" } },
  { errorEvent: { after: 1 } },
  { errorEvent: { after: "delta:1", kind: "overloaded" } },
  { errorEvent: { after: 0, kind: "rate_limit" } },
  { malformed: { at: 4 } },
] as const;

/** Holds the conversation of {@link longScript}, with images of the user and in outputs; each failure is tried again. */
export async function holdConversation(llm: GenerativeModel): Promise<void> {
  let input: OmniMessage[] = [userText("begin"), userImage(PIXEL)];
  for (const [n, { text = "", tools = [], faults = [] }] of longScript().entries()) {
    for (const _ of faults) {
      const { outcome } = await ask(llm, ...input);
      expect(["timeout", "malformed", "failed"]).toContain(outcome.status);
      expect(outcome.permanent).toBeUndefined();
    }
    const got = await ask(llm, ...input);
    expect([got.outcome.status, textOf(got)]).toEqual(["completed", text]);
    input = answers(got, n % 3 === 0 ? { images: [PIXEL] } : {});
    expect(input).toHaveLength(tools.length);
    if (input.length === 0 || n % 7 === 6) input.push(userText(`and ${n}?`));
  }
}
