import { expect, test } from "vitest";
import { PiecewiseRedaction } from "./piecewise-redaction.ts";

const KEY = "sk-canary-0123456789";

function redacted(pieces: Iterable<string>, secrets: string[] = [KEY]): string[] {
  const redaction = new PiecewiseRedaction(secrets);
  const shown = [...pieces].map((piece) => redaction.push(piece));
  return [...shown, redaction.end()].filter((text) => text !== "");
}

test("whole lines come out with the piece that ends them, the rest at the end", () => {
  expect(redacted(["data: a\n\nda", "ta: b\n", "da", "ta"])).toEqual(["data: a\n\n", "data: b\n", "data"]);
});

test.each([1, 3, 7])("a secret that comes in pieces of %d characters is taken out", (size) => {
  const text = `before ${KEY} between\n"${JSON.stringify(KEY)}" ${KEY}`;
  const pieces = text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
  expect(redacted(pieces).join("")).toBe('before [redacted] between\n""[redacted]"" [redacted]');
});

test("a line without end is let go in parts that no secret shows in, wherever it lies", () => {
  const filler = "x".repeat(1000);
  const pieces = Array.from({ length: 600 }, (_, i) => filler + "y".repeat(i % 23) + KEY);
  const redaction = new PiecewiseRedaction([KEY]);
  let longest = 0;
  let fed = 0;
  let shown = "";
  for (const piece of pieces) {
    fed += piece.length;
    shown += redaction.push(piece);
    longest = Math.max(longest, fed - shown.length);
  }
  shown += redaction.end();
  expect(shown).toBe(pieces.join("").replaceAll(KEY, "[redacted]"));
  expect(longest).toBeLessThan(400_000);
});

test("a character of two halves is the same again after the parts are joined", () => {
  const text = "🙂".repeat(200_001);
  expect(redacted([text.slice(0, 262_145), text.slice(262_145)]).join("")).toBe(text);
});
