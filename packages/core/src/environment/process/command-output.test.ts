import fc from "fast-check";
import { expect, test } from "vitest";
import { type OutputPiece, pieceText } from "../output-piece.ts";
import { CommandOutput } from "./command-output.ts";

test("lines of two streams stay whole and stand in the order in which they ended", () => {
  const output = new CommandOutput(undefined);
  const text = [
    output.push({ stream: "stdout", text: "no. " }),
    output.push({ stream: "stderr", text: "w " }),
    output.push({ stream: "stderr", text: "warn\n" }),
    output.push({ stream: "stdout", text: "fin\n" }),
  ];
  expect(text.flat()).toEqual(["", "", "w warn\n", "no. fin\n"]);
});

test("of lines without an end the one that was printed last comes last", () => {
  const output = new CommandOutput(undefined);
  output.push({ stream: "stderr", text: "warning " });
  output.push({ stream: "stdout", text: "Name? " });
  expect(output.snapshot()).toBe("warning Name? ");
  expect(output.end()).toBe("warning Name? ");
});

test("the snapshot is the last 4 KiB, lines without an end included", () => {
  const output = new CommandOutput(undefined);
  output.push({ stream: "stdout", text: `${"é".repeat(5000)}\n` });
  output.push({ stream: "stdout", text: "50%\r60%" });
  const snapshot = output.snapshot();
  expect(snapshot).toMatch(/^é+\n60%$/);
  expect(Buffer.byteLength(snapshot)).toBeLessThanOrEqual(4096);
  expect(Buffer.byteLength(snapshot)).toBeGreaterThan(4090);
});

test("a vault value hidden by escape sequences or by a line without an end does not appear", () => {
  const output = new CommandOutput({ TOKEN: "s3cr3t-token" });
  output.push({ stream: "stdout", text: "\x1b[31ms3cr3t\x1b[0m-token" });
  expect(output.snapshot()).toBe("[vault:TOKEN]");
  expect(output.end()).toBe("[vault:TOKEN]");
});

test("the end as it was printed is kept where it holds escape sequences", () => {
  const plain = new CommandOutput(undefined);
  plain.push({ stream: "stdout", text: "plain\n" });
  expect(plain.ansi).toBeUndefined();
  const coloured = new CommandOutput(undefined);
  coloured.push({ stream: "stdout", text: "\x1b[31mred\x1b[0m\n" });
  expect(coloured.ansi).toBe("\x1b[31mred\x1b[0m\n");
});

test("what is known to be plain comes out as it would as text, its whole lines as bytes", () => {
  const line = fc.integer({ min: 1, max: 3000 }).map((length) => `${"x".repeat(length)}\n`);
  const plain = fc.array(line, { maxLength: 8 }).map((lines) => lines.join("").slice(3));
  const other = fc.constantFrom("\x1b]0;title", "\x07", "50%\r", "\x1b[", "é\n", "\b");
  const chunk = fc.record({
    stream: fc.constantFrom("stdout" as const, "stderr" as const),
    text: fc.oneof(plain, other),
    cut: fc.nat(9000),
  });
  let bytesSeen = 0;
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 12 }), (chunks) => {
      const [asText, asBytes] = [new CommandOutput(undefined), new CommandOutput(undefined)];
      const [texts, pieces]: [OutputPiece[], OutputPiece[]] = [[], []];
      for (const { stream, text, cut } of chunks) {
        texts.push(...asText.push({ stream, text }));
        const isPlain = /^[\x20-\x7e\n\t]+$/.test(text);
        const bytes = Buffer.from(text);
        const cutInTwo = [bytes.subarray(0, cut), bytes.subarray(cut)].filter(({ length }) => length > 0);
        pieces.push(...asBytes.push({ stream, text, ...(isPlain && { plain: cutInTwo }) }));
        expect(asBytes.snapshot()).toBe(asText.snapshot());
      }
      bytesSeen += pieces.filter((piece) => typeof piece !== "string").length;
      expect([...pieces.map(pieceText), asBytes.end()].join("")).toBe([...texts, asText.end()].join(""));
      expect(asBytes.ansi).toBe(asText.ansi);
    }),
  );
  expect(bytesSeen).toBeGreaterThan(0);
});

test("of output that is mostly terminal control no more is held than what is left of it", () => {
  const output = new CommandOutput(undefined);
  const kept: OutputPiece[] = [];
  const before = process.memoryUsage().heapUsed;
  for (let count = 0; count < 1000; count++) {
    const text = `${"\x1b[m".repeat(20_000)}${String(count).padStart(30, "visible ")}\n`;
    kept.push(...output.push({ stream: "stdout", text }));
  }
  expect(kept.map(pieceText).join("").length).toBe(31_000);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(40 * 1024 * 1024);
});
