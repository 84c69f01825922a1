import { expect, test } from "vitest";
import { overwriteDiff } from "./overwrite-diff.ts";

const lines = (word: string, count: number): string =>
  Array.from({ length: count }, (_, i) => `${word} ${i + 1}\n`).join("");

const diff = (before: string, after: string, maxCharacters = 16_000): Promise<string> =>
  overwriteDiff(Buffer.from(before), Buffer.from(after), { path: "a.txt", maxCharacters });

test("60 changed lines are shown and 61 are counted (PT-137, PT-138)", async () => {
  expect((await diff(lines("old", 30), lines("new", 30))).split("\n").slice(0, 4)).toEqual([
    "--- a/a.txt",
    "+++ b/a.txt",
    "@@ -1,30 +1,30 @@",
    "-old 1",
  ]);
  expect(await diff(lines("old", 30), lines("new", 31))).toBe("+31/−30 lines");
});

test("a diff that does not fit is counted (PT-138)", async () => {
  expect(await diff("a\n", `${"b".repeat(100)}\n`, 50)).toBe("+1/−1 lines");
});

test("contents that differ in very many lines are counted between their equal ends (PT-138)", async () => {
  const before = `head\n${lines("old", 3000)}tail\n`;
  expect(await diff(before, `head\n${lines("new", 4000)}tail\n`)).toBe("+4000/−3000 lines");
});
