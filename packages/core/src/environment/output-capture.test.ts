import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_CAPTURE_BYTES, OutputCapture } from "./output-capture.ts";
import { type OutputPiece, pieceText } from "./output-piece.ts";

function capture(pieces: readonly OutputPiece[], maxBytes?: number) {
  const output = new OutputCapture(maxBytes);
  for (const piece of pieces) output.push(piece);
  const { parts, complete } = output.end();
  return { complete, bytes: Buffer.concat(parts) };
}

test("text within the budget is kept exactly (PT-041, PT-063)", () => {
  const { complete, bytes } = capture(["secret=hunter2\n", "é", "😀"]);
  expect({ complete, text: bytes.toString() }).toEqual({ complete: true, text: "secret=hunter2\né😀" });
});

test("the budget is 8 MiB less one byte: one byte more leaves a gap (PT-057)", () => {
  const full = "x".repeat(8 * 1024 * 1024 - 1);
  expect(MAX_CAPTURE_BYTES).toBe(full.length);
  expect(capture([full])).toMatchObject({ complete: true, bytes: { length: full.length } });
  const over = capture([full, "y"]);
  expect(over.complete).toBe(false);
  expect(over.bytes.length).toBeLessThanOrEqual(MAX_CAPTURE_BYTES);
  expect(over.bytes.toString("latin1").endsWith("xy")).toBe(true);
});

test("larger text keeps its head and its tail, and the marker between them counts what is missing (PT-042, PT-043)", () => {
  const text = Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join("");
  const { complete, bytes } = capture([text], 1000);
  expect(complete).toBe(false);
  const [, head = "", missing, tail = ""] =
    /^(.*)\n\[\.\.\. (\d+) bytes missing here \.\.\.\]\n(.*)$/s.exec(`${bytes}`) ?? [];
  expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
  expect(head.length).toBe(500);
  expect(tail.length).toBeGreaterThan(400);
  expect(head.length + Number(missing) + tail.length).toBe(text.length);
});

test("a pair split over two pushes is joined, also where the text is encoded piece by piece", () => {
  expect(capture(["a\ud83d", "\ude00"]).bytes.toString()).toBe("a😀");
  const text = "😀".repeat(100_000);
  expect(capture([`a${text}`]).bytes.toString()).toBe(`a${text}`);
  expect(capture(["a\ud83db"]).bytes.toString()).toBe("a\ufffdb");
});

test("a pair is joined wherever text is cut to be encoded", () => {
  for (const before of [32 * 1024 - 1, 32 * 1024, 64 * 1024 - 1]) {
    const head = "x".repeat(before);
    expect(capture([`${head}\ud83d`, "\ude00y"]).bytes.toString() === `${head}😀y`).toBe(true);
    expect(capture([`${head}😀y`]).bytes.toString() === `${head}😀y`).toBe(true);
  }
});

const anyPiece = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "é", "€", "😀", "\ud83d", "\ude00"), maxLength: 200 }),
  fc.nat(600).map((length) => Buffer.alloc(length, "b")),
);

test("whatever the pieces, the parts are valid UTF-8 within the budget, a prefix and a suffix of the text", () => {
  fc.assert(
    fc.property(fc.array(anyPiece, { maxLength: 30 }), fc.integer({ min: 200, max: 1500 }), (pieces, maxBytes) => {
      const { complete, bytes } = capture(pieces, maxBytes);
      const whole = Buffer.from(pieces.map(pieceText).join(""));
      expect(bytes.length).toBeLessThanOrEqual(maxBytes);
      const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      expect(complete).toBe(whole.length <= maxBytes);
      if (complete) {
        expect(bytes.equals(whole)).toBe(true);
        return;
      }
      const [head = "", missing, tail = ""] = text.split(/\n\[\.\.\. (\d+) bytes missing here \.\.\.\]\n/);
      expect(whole.toString().startsWith(head) && whole.toString().endsWith(tail)).toBe(true);
      expect(Buffer.byteLength(head) + Number(missing) + Buffer.byteLength(tail)).toBe(whole.length);
    }),
  );
});

test("a huge push costs memory for the budget, not for itself", () => {
  const huge = "0123456789abcdef".repeat(8 * 1024 * 1024);
  const before = process.memoryUsage().arrayBuffers;
  const output = new OutputCapture();
  output.push(huge);
  output.push("END");
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  const { parts } = output.end();
  expect(Buffer.concat(parts).toString("latin1").endsWith("abcdefEND")).toBe(true);
});
