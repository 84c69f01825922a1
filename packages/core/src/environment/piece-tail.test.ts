import fc from "fast-check";
import { expect, test } from "vitest";
import { type OutputPiece, piecesText, pieceText } from "./output-piece.ts";
import { PieceTail } from "./piece-tail.ts";

const anyPiece = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "é", "😀"), maxLength: 30 }),
  fc.nat(30).map((length): OutputPiece => Buffer.alloc(length, "b")),
);

test("what is kept is the end of everything and holds so many characters; what is dropped is counted", () => {
  fc.assert(
    fc.property(fc.array(anyPiece), fc.integer({ min: 1, max: 40 }), (pieces, maxChars) => {
      const tail = new PieceTail(maxChars);
      const dropped = pieces.reduce((sum, piece) => sum + tail.push(piece), 0);
      const whole = piecesText(pieces);
      expect(whole.endsWith(tail.text)).toBe(true);
      expect(tail.length).toBe(tail.text.length);
      expect(tail.length + dropped).toBe(whole.length);
      expect(tail.length).toBeGreaterThanOrEqual(Math.min(whole.length, maxChars));
      expect(tail.pieces.every((piece) => piece.length > 0)).toBe(true);
    }),
  );
});

test("pieces are few: short texts are joined, and as few are kept as hold the characters", () => {
  const tail = new PieceTail(10_000);
  for (let count = 0; count < 100_000; count++) tail.push("0123456789");
  expect(tail.pieces.length).toBeLessThanOrEqual(4);
  expect(tail.length).toBeLessThan(20_000);
  tail.push(Buffer.alloc(64 * 1024, "x"));
  expect(tail.pieces.map(pieceText)).toEqual(["x".repeat(10_001)]);
});

test("a lower limit drops at once, and a cleared tail holds nothing", () => {
  const tail = new PieceTail(100);
  for (const letter of "abcde") tail.push(Buffer.alloc(20, letter));
  expect([tail.limit(30), tail.text]).toEqual([60, "d".repeat(20) + "e".repeat(20)]);
  tail.clear();
  expect([tail.length, tail.text]).toEqual([0, ""]);
});
