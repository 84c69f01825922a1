import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fileWorkspace } from "../../../test/support/file-workspace.ts";
import { editDiff } from "./edit-diff.ts";
import { findOccurrences } from "./find-occurrences.ts";
import { type Replacement, replaceRanges } from "./replace-ranges.ts";

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join("");

async function diff(before: string, old: string, now: string, maxCharacters = 16_000): Promise<string> {
  const content = Buffer.from(before);
  const { ranges } = await findOccurrences(content, old);
  const replacements = ranges.map((range) => ({ ...range, bytes: Buffer.from(now) }));
  return await editDiff(content, replacements, { path: "a.txt", maxCharacters });
}

test("a place is one hunk with three lines of context and git's headers (PT-130)", async () => {
  expect(await diff(lines(20), "line 10\n", "line ten\n")).toBe(
    [
      "--- a/a.txt",
      "+++ b/a.txt",
      "@@ -7,7 +7,7 @@",
      " line 7",
      " line 8",
      " line 9",
      "-line 10",
      "+line ten",
      " line 11",
      " line 12",
      " line 13",
    ].join("\n"),
  );
});

test("a text with much unchanged context of its own is still one hunk of three lines around the change (PT-131)", async () => {
  const text = lines(30);
  const hunks = (await diff(text, text, text.replace("line 9\n", "").replace("line 20\n", "line twenty\n"))).split(
    "\n",
  );
  expect(hunks.filter((line) => line.startsWith("@@"))).toEqual(["@@ -6,18 +6,17 @@"]);
});

test("places at most six lines apart share a hunk, others have their own (PT-131)", async () => {
  const near = lines(20).replace("line 3\n", "X\n").replace("line 10\n", "X\n");
  expect((await diff(near, "X", "Y")).match(/^@@.*$/gm)).toEqual(["@@ -1,13 +1,13 @@"]);
  const far = lines(20).replace("line 3\n", "X\n").replace("line 11\n", "X\n");
  expect((await diff(far, "X", "Y\nZ")).match(/^@@.*$/gm)).toEqual(["@@ -1,6 +1,7 @@", "@@ -8,7 +9,8 @@"]);
});

test("several matches in one line share one hunk", async () => {
  expect(await diff("a a a\n", "a", "b")).toBe("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a a a\n+b b b");
});

test("after five hunks the number of the replacements that are not shown follows (PT-132)", async () => {
  const text = Array.from({ length: 12 }, () => `X X\n${"-\n".repeat(10)}`).join("");
  const shown = await diff(text, "X", "Y");
  expect(shown.match(/^@@/gm)).toHaveLength(5);
  expect(shown.split("\n").at(-1)).toBe("…and 14 more replacements");
});

test("a hunk of more lines than the output has characters is left out without being made", async () => {
  expect(await diff("X\n".repeat(100_000), "X", "Y", 16_000)).toBe("[diff left out: it does not fit the output]");
  const first = `X\n${"-\n".repeat(10)}${"X\n".repeat(99_999)}`;
  expect((await diff(first, "X", "Y", 16_000)).split("\n").at(-1)).toBe("…and 99999 more replacements");
});

test("hunks that do not fit are left out, and counted where some are shown", async () => {
  const text = Array.from({ length: 3 }, () => `X\n${"-\n".repeat(10)}`).join("");
  const limited = await diff(text, "X", "Y", 120);
  expect(limited.length).toBeLessThanOrEqual(120);
  expect(limited.split("\n").at(-1)).toBe("…and 1 more replacements");
  expect(await diff(text, "X", "Y", 30)).toBe("[diff left out: it does not fit the output]");
});

test("removing everything is a hunk with git's zero counts", async () => {
  expect(await diff("a\nb\n", "a\nb\n", "")).toBe("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +0,0 @@\n-a\n-b");
});

test("a missing final newline is marked as git marks it", async () => {
  expect(await diff("a\nb", "b", "c")).toBe(
    [
      "--- a/a.txt",
      "+++ b/a.txt",
      "@@ -1,2 +1,2 @@",
      " a",
      "-b",
      "\\ No newline at end of file",
      "+c",
      "\\ No newline at end of file",
    ].join("\n"),
  );
});

test("carriage returns are not shown and overlong lines are shortened", async () => {
  expect(await diff("a\r\nb\r\n", "b", "c")).toBe("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+c");
  expect(await diff(`${"x".repeat(5000)}\nb\n`, "b", "c")).toContain(
    `\n ${"x".repeat(2000)}… [line truncated: 5000 bytes in all]\n-b\n+c`,
  );
});

test("a replacement of very many lines shows all of them as removed and added", async () => {
  const now = lines(1500).replaceAll("line", "row");
  const shown = (await diff(lines(1500), lines(1500), now, 1e6)).split("\n");
  expect(shown[2]).toBe("@@ -1,1500 +1,1500 @@");
  expect(shown.filter((line) => line.startsWith("-line")).length).toBe(1500);
  expect(shown.filter((line) => line.startsWith("+row")).length).toBe(1500);
});

test("patch turns the old content into the new one (PT-130)", async () => {
  const workspace = await fileWorkspace();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("a", "b", "c", ""), { minLength: 1, maxLength: 40 }),
      fc.boolean(),
      fc.array(fc.tuple(fc.nat(80), fc.nat(6), fc.constantFrom("x", "y\n", "\nz", "")), { maxLength: 4 }),
      async (words, feed, sites) => {
        const before = Buffer.from(words.join("\n") + (feed ? "\n" : ""));
        const replacements: Replacement[] = [];
        for (const [start, length, now] of sites.sort((a, b) => a[0] - b[0])) {
          if (start < (replacements.at(-1)?.end ?? 0) || start + length > before.length) continue;
          replacements.push({ start, end: start + length, bytes: Buffer.from(now) });
        }
        const after = replaceRanges(before, replacements);
        fc.pre(replacements.every((one) => !before.subarray(one.start, one.end).equals(one.bytes)));
        fc.pre(replacements.length > 0 && !after.equals(before));
        await writeFile(workspace.path("a.txt"), before);
        const input = `${await editDiff(before, replacements, { path: "a.txt", maxCharacters: 1e6 })}\n`;
        execFileSync("git", ["apply", "--unidiff-zero", "--whitespace=nowarn"], { cwd: workspace.dir, input });
        expect((await workspace.bytes("a.txt")).toString()).toBe(after.toString());
      },
    ),
    { numRuns: 40 },
  );
});

test("very many matches in one long line are one shortened hunk, NUL bytes visible", async () => {
  expect(await diff("a\0".repeat(100_000), "a", "b")).toBe(
    [
      "--- a/a.txt",
      "+++ b/a.txt",
      "@@ -1 +1 @@",
      `-${"a␀".repeat(1000)}… [line truncated: 200000 bytes in all]`,
      "\\ No newline at end of file",
      `+${"b␀".repeat(1000)}… [line truncated: 200000 bytes in all]`,
      "\\ No newline at end of file",
    ].join("\n"),
  );
});
