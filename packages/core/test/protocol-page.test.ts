import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { complete, event, names, partial, sessionMeta } from "../src/omnimessage/definition.ts";
import { readMessages } from "../src/omnimessage/json-lines.ts";
import type { OmniMessage } from "../src/omnimessage/message.ts";
import { fieldNames, type Shape } from "../src/omnimessage/shape.ts";
import { ruleViolations } from "../src/testing/check-rules.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/protocol.md"), "utf8");

test("the page explains every payload type, field and word of the definition", () => {
  const tables = { ...complete, ...partial, ...event };
  const fields = [sessionMeta, ...Object.values(tables)].flatMap(fieldNames);
  const shapes: Shape[] = [...Object.values(names), ...Object.values(tables).flatMap((table) => Object.values(table))];
  const words = [...Object.keys(tables), ...fields, ...shapes.flatMap(wordsOf)];
  expect(words.length).toBeGreaterThan(100);
  // As `word`, or with the mark of an optional field or a list.
  expect([...new Set(words)].filter((word) => !new RegExp(`\`"?${word}(\\?|\\[\\])?"?\``).test(page))).toEqual([]);
});

test("the example of the page keeps the rules", async () => {
  const example = /```jsonl\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  const messages: OmniMessage[] = [];
  for await (const read of readMessages(oneChunk(example))) {
    expect(read).not.toHaveProperty("problem");
    if ("message" in read) messages.push(read.message);
  }
  expect(messages.length).toBeGreaterThan(20);
  expect(ruleViolations(messages)).toEqual([]);
});

/** The words a shape allows and the fields it has, at any depth. */
function wordsOf(shape: Shape): string[] {
  if (typeof shape === "string") return [];
  if (Array.isArray(shape)) return shape.map(String);
  if ("list" in shape) return wordsOf(shape.list);
  if ("either" in shape) return shape.either.flatMap(wordsOf);
  if ("fields" in shape) return [...fieldNames(shape.fields), ...Object.values(shape.fields).flatMap(wordsOf)];
  return [];
}

async function* oneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}
