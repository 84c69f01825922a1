import fc from "fast-check";
import { expect, test } from "vitest";
import { OutputCleaner } from "./clean-output.ts";

function clean(...pieces: string[]): string {
  const cleaner = new OutputCleaner();
  return pieces.map((piece) => cleaner.push(piece)).join("") + cleaner.flush();
}

test("escape sequences are removed", () => {
  expect(clean("\x1b[1;31mred\x1b[0m \x1b[38;5;12mblue\x1b[m\n")).toBe("red blue\n");
  expect(clean("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n")).toBe("alink\n");
  expect(clean("\x1bPq#0;2;0\x1b\\a\x1b_app\x1b\\b\x1b(Bc\x1b7d\x1b=\n")).toBe("abcd\n");
  expect(clean("\x9b31mred\x9b0m\x9d0;title\x9c \x90dcs\x9cend\n")).toBe("red end\n");
});

test("control characters other than newline and tab are removed", () => {
  expect(clean("a\x00b\x07c\td\x0be\x7ff\x85g\n")).toBe("abc\tdefg\n");
});

test("runs of control characters leave what single ones leave, and long runs come to an end", () => {
  const controls = [..."\0\x01\x05\x07\x0b\x0c\x0e\x18\x1a\x1c\x7f\x80\x85\x8f\x91\x97\x99\x9a\x9c"];
  for (const control of controls) expect(clean(`ab${control.repeat(3)}c\n`)).toBe("abc\n");
  expect(clean(`ab${controls.join("")}c\n`)).toBe("abc\n");
  expect(clean("abcd\b\b\bX\n", "ab\b\b\b\bX\n", "ab\r\r\rX\n", "ab\r\r\r\n")).toBe("aXcd\nXb\nXb\nab\n");
  for (const control of ["\0", "\r", "\b", "\x9c", "\0\x07"]) {
    expect(clean(control.repeat(4_000_000), "x\n")).toBe("x\n");
  }
});

test("a carriage return before a line end is removed", () => {
  expect(clean("one\r\ntwo\r\r\nthree\r\n")).toBe("one\ntwo\nthree\n");
  expect(clean("one\r", "\ntwo")).toBe("one\ntwo");
});

test("a redrawn line leaves what a person would see at last", () => {
  expect(clean("10%\r50%\r100%\n")).toBe("100%\n");
  expect(clean("downloading\rdone\n")).toBe("doneloading\n");
  expect(clean("downloading\r\x1b[Kdone\n")).toBe("done\n");
  expect(clean("downloading\x1b[2K\x1b[1Gdone\n")).toBe("done\n");
  expect(clean("downloading\x1b[1000Ddone\x1b[K\n")).toBe("done\n");
  expect(clean("abc\x1b[5Gx\x1b[2Cy\n")).toBe("abc x  y\n");
  expect(clean("abcdef\x1b[3G\x1b[1K\n")).toBe("   def\n");
});

test("a backspace moves back and what follows writes over", () => {
  expect(clean("abd\bc\n")).toBe("abc\n");
  expect(clean("|\b/\b-\b\\\b \bok\n")).toBe("ok\n");
  expect(clean("a\b\b\bb\n")).toBe("b\n");
});

test("erasing to the end where nothing stands does not count as a redraw", () => {
  expect(clean("\x1b[01;31m\x1b[Kmatch\x1b[m\x1b[K rest\n")).toBe("match rest\n");
});

test("the last line is held back until it ends, since it may be redrawn", () => {
  const cleaner = new OutputCleaner();
  expect(cleaner.push("one\nStep 1")).toBe("one\n");
  expect(cleaner.pending).toBe("Step 1");
  expect(cleaner.push("\rStep 2")).toBe("");
  expect(cleaner.pending).toBe("Step 2");
  expect(cleaner.push("\n")).toBe("Step 2\n");
  expect(cleaner.push("Name? ")).toBe("");
  expect(cleaner.flush()).toBe("Name? ");
  expect(cleaner.flush()).toBe("");
});

test("a sequence cut by the end of a piece is still one", () => {
  expect(clean("a\x1b", "[3", "1", "mb\x1b]0;ti", "tle\x1b", "\\c\n")).toBe("abc\n");
});

test("a control string that is never closed costs no more than its line", () => {
  expect(clean("\x1b]0;never closed\nnext line\n")).toBe("\nnext line\n");
});

test("a control string that is never closed costs no more than 64 Ki characters", () => {
  expect(clean("\x1b]0;", "x".repeat(65_534), "y".repeat(10))).toBe("y".repeat(10));
});

test("an escape sequence without an end is not kept for ever", () => {
  const digits = "1".repeat(300);
  expect(clean(`\x1b[${digits}`, "text\n")).toBe("text\n");
});

test("a line without an end is given out in parts, not collected", () => {
  const cleaner = new OutputCleaner();
  let longestPending = 0;
  let length = 0;
  for (let i = 0; i < 1000; i++) {
    length += cleaner.push("x".repeat(10_000)).length;
    longestPending = Math.max(longestPending, cleaner.pending.length);
  }
  expect(length + cleaner.flush().length).toBe(10_000_000);
  expect(longestPending).toBeLessThanOrEqual(65_536);
});

test("a redrawn line without an end is given out in parts as well", () => {
  const cleaner = new OutputCleaner();
  cleaner.push("a\r");
  let longestPending = 0;
  for (let i = 0; i < 100; i++) {
    cleaner.push("x".repeat(10_000));
    longestPending = Math.max(longestPending, cleaner.pending.length);
  }
  expect(longestPending).toBeLessThanOrEqual(65_536);
});

test("a cursor moved far to the right does not make a line of blanks without bound", () => {
  expect(clean("\x1b[999999999Gx\n").length).toBeLessThan(1100);
});

const printed = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: fc.constantFrom("a", "é", "漢", "🦔", " ", "\t", "\n"), maxLength: 6 }) },
  fc.constantFrom("\r", "\b", "\r\n", "\x07", "\x00", "\x9c", "\x1b", "\x1b[K", "\x1b[2K", "\x1b[1K", "\x1b[3G"),
  fc.constantFrom("\x1b[31m", "\x1b[2C", "\x1b[2D", "\x1b]0;t\x07", "\x1b]8;;u\x1b\\", "\x1bPq", "\x1b(B", "\x9b1m"),
);

test("however output is cut between characters, the text is the same", () => {
  fc.assert(
    fc.property(fc.array(printed, { maxLength: 20 }), fc.infiniteStream(fc.nat(4)), (parts, sizes) => {
      const characters = [...parts.join("")];
      const pieces: string[] = [];
      for (let at = 0; at < characters.length; ) {
        const size = sizes.next().value ?? 1;
        pieces.push(characters.slice(at, at + size).join(""));
        at += size;
      }
      expect(clean(...pieces)).toBe(clean(parts.join("")));
    }),
    { numRuns: 500 },
  );
});

test("no control character but newline and tab is ever left", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(printed, fc.string({ unit: "binary" })), { maxLength: 20 }), (parts) => {
      expect(clean(...parts)).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
    }),
  );
});

test("plain text passes unchanged", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom("a", "\n", "漢", "\t", "🦔") })), (pieces) => {
      expect(clean(...pieces)).toBe(pieces.join(""));
    }),
  );
});
