import fc from "fast-check";
import { expect, test } from "vitest";
import { OutputWindow } from "./output-window.ts";

function show(pieces: readonly string[], maxChars: number, truncation: "head" | "head_tail") {
  const window = new OutputWindow(maxChars, truncation);
  const streamed = pieces.map((piece) => window.push(piece));
  return { streamed, shown: streamed.join(""), ...window.end() };
}

const modes = ["head", "head_tail"] as const;

test.for(modes)("text that fits is unchanged and nothing is omitted (%s)", (mode) => {
  const { shown, text, omittedChars } = show(["abc", "", "defgh", "ij"], 10, mode);
  expect({ all: shown + text, omittedChars }).toEqual({ all: "abcdefghij", omittedChars: 0 });
});

test("in head mode every character streams at once until the cap, and none after it (PT-032)", () => {
  expect(show(["abc", "defgh", "ij"], 5, "head")).toEqual({
    streamed: ["abc", "de", ""],
    shown: "abcde",
    text: "",
    omittedChars: 5,
  });
});

test("in head_tail mode a quarter streams, and three quarters of the end follow when it is known", () => {
  expect(show(["0123456789", "abcdef"], 8, "head_tail")).toEqual({
    streamed: ["01", ""],
    shown: "01",
    text: "abcdef",
    omittedChars: 8,
  });
});

test("a cut never splits a code point: the whole of it is dropped", () => {
  expect(show(["abc😀d"], 4, "head")).toMatchObject({ shown: "abc", text: "", omittedChars: 3 });
  expect(show(["ab😀cd", "ef"], 4, "head_tail")).toMatchObject({ shown: "a", text: "def", omittedChars: 4 });
  expect(show(["ab😀cde"], 5, "head_tail")).toMatchObject({ shown: "a", text: "cde", omittedChars: 3 });
});

test("a pair whose halves come apart is shown as one, and a half without a partner becomes U+FFFD", () => {
  expect(show(["a\ud83d", "\ude00b"], 10, "head").streamed).toEqual(["a", "😀b"]);
  expect(show(["a\ud83d", "b\ude00"], 10, "head").streamed).toEqual(["a", "\ufffdb\ufffd"]);
  expect(show(["a\ud83d"], 10, "head")).toMatchObject({ shown: "a", text: "\ufffd" });
});

const anyPiece = fc.string({ unit: fc.constantFrom("a", "é", "😀", "\ud83d", "\ude00", "\n"), maxLength: 12 });

test("whatever the pieces, what is shown is the well-formed text less one gap, and within the cap", () => {
  fc.assert(
    fc.property(fc.array(anyPiece), fc.integer({ min: 1, max: 40 }), fc.constantFrom(...modes), (pieces, cap, mode) => {
      const { shown, text, omittedChars } = show(pieces, cap, mode);
      const whole = wellFormed(pieces.join(""));
      expect(wellFormed(shown) + wellFormed(text)).toBe(shown + text);
      if (whole.length <= cap) {
        expect({ shown: shown + text, omittedChars }).toEqual({ shown: whole, omittedChars: 0 });
        return;
      }
      expect(shown.length + text.length).toBeLessThanOrEqual(cap);
      expect(shown.length + omittedChars + text.length).toBe(whole.length);
      expect(whole.startsWith(shown)).toBe(true);
      expect(whole.endsWith(text)).toBe(true);
    }),
  );
});

test("the tail of very long output is right however it is cut into pieces", () => {
  const line = "0123456789abcdef";
  for (const size of [1, 7, 1000, 300_000]) {
    const window = new OutputWindow(400, "head_tail");
    const piece = line.repeat(size);
    const pushes = Math.ceil(500_000 / piece.length);
    for (let i = 0; i < pushes; i++) window.push(piece);
    window.push("END");
    expect(window.end().text).toBe(`${line.repeat(30)}END`.slice(-300));
  }
});

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}
