import { expect, test } from "vitest";
import { folded, foldedEnd } from "./fold.ts";

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}`).join("\n");

test("a short result is shown whole, without its last line end", () => {
  expect(folded("a\nb\n", 80)).toEqual(["a", "b"]);
  expect(folded(lines(5), 80)).toHaveLength(5);
});

test("of a long one the first lines stand, with the number of the others", () => {
  expect(folded(lines(6), 80).slice(4)).toEqual(["line 5", "… 1 more line"]);
  expect(folded(lines(1000), 80).at(-1)).toBe("… 995 more lines");
});

test("long lines are cut to the width and control characters shown", () => {
  expect(folded(`${"x".repeat(200_000)}\n\x1b[2J`, 10)).toEqual([`${"x".repeat(9)}…`, "␛[2J"]);
});

test("a result of a hundred thousand lines is counted", () => {
  expect(folded(lines(100_000), 80).at(-1)).toBe("… 99995 more lines");
});

test("of a long failure the last lines stand, with the number of those before", () => {
  expect(foldedEnd("a\nb\n", 80)).toEqual(["a", "b"]);
  expect(foldedEnd(lines(5), 80)).toEqual(folded(lines(5), 80));
  expect(foldedEnd(lines(6), 80)).toEqual(["… 1 earlier line", "line 2", "line 3", "line 4", "line 5", "line 6"]);
  expect(foldedEnd(lines(100_000), 80)[0]).toBe("… 99995 earlier lines");
  expect(foldedEnd(`${"x".repeat(200_000)}\n\x1b[2J`, 10)).toEqual([`${"x".repeat(9)}…`, "␛[2J"]);
});
