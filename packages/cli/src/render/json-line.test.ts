import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonLine } from "./json-line.ts";

test("what could control a terminal is escaped in JSON", () => {
  expect(jsonLine({ text: "\x7f\x9b2J\u2028\u2029\u202e\u2066" })).toBe(
    '{"text":"\\u007f\\u009b2J\\u2028\\u2029\\u202e\\u2066"}\n',
  );
  expect(jsonLine("Grüße 日本語 😀")).toBe('"Grüße 日本語 😀"\n');
});

test("it stays the same JSON, on one line", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
      const line = jsonLine(value);
      expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(line).toMatch(/^[^\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*\n$/);
    }),
  );
});
