import fc from "fast-check";
import { expect, test } from "vitest";
import { findOccurrences } from "./find-occurrences.ts";
import { replaceRanges, toReplacements } from "./replace-ranges.ts";

const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array));
/** Few characters, so that line endings and repetitions are frequent. */
const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "\r\n", "é"), maxLength: 12 });

test("replacing a unique text leaves every byte outside of it as it was (PT-126)", async () => {
  const needle = fc.constantFrom("unique-needle", "unique\nneedle", "unique\r\nneedle");
  await fc.assert(
    fc.asyncProperty(bytes, needle, bytes, fc.string({ maxLength: 20 }), async (before, old, after, now) => {
      const content = Buffer.concat([before, Buffer.from(old), after]);
      const { ranges, exact } = await findOccurrences(content, old);
      expect({ exact, ranges }).toEqual({
        exact: true,
        ranges: [{ start: before.length, end: before.length + Buffer.byteLength(old) }],
      });
      const edited = replaceRanges(content, toReplacements(content, ranges, old, now));
      expect(edited.subarray(0, before.length).equals(before)).toBe(true);
      expect(edited.subarray(edited.length - after.length).equals(after)).toBe(true);
    }),
  );
});

test("without line breaks in play, replacing every occurrence equals splitting and joining (PT-127)", async () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "$&"), minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom("a", "b", "é"), maxLength: 40 }),
      word,
      word,
      async (before, old, now) => {
        const content = Buffer.from(before);
        const { ranges } = await findOccurrences(content, old);
        expect(replaceRanges(content, toReplacements(content, ranges, old, now)).toString()).toBe(
          before.split(old).join(now),
        );
      },
    ),
  );
});

test("a tolerant match is one whose text without carriage returns before line feeds is the text sought", async () => {
  await fc.assert(
    fc.asyncProperty(
      text,
      text.filter((old) => old !== "" && !old.includes("\r")),
      async (before, old) => {
        const content = Buffer.from(before);
        const { ranges, exact } = await findOccurrences(content, old);
        for (const { start, end } of ranges) {
          const found = content.toString("utf8", start, end);
          expect(exact ? found : found.replaceAll("\r\n", "\n")).toBe(old);
        }
        if (ranges.length === 0) expect(before.replaceAll("\r\n", "\n")).not.toContain(old);
      },
    ),
  );
});

test("an exact match wins over one that differs in its line ending", async () => {
  const content = Buffer.from("a\r\nb\r\na\nb\n");
  expect(await findOccurrences(content, "a\nb")).toEqual({ exact: true, ranges: [{ start: 6, end: 9 }] });
});

test("a line feed at the start of the text takes the whole CRLF with it", async () => {
  const content = Buffer.from("x\r\ny\r\nz");
  expect(await findOccurrences(content, "\ny\n")).toEqual({ exact: false, ranges: [{ start: 1, end: 6 }] });
});

test("inserted lines take the ending of the place, and carriage returns in either text are taken literally", async () => {
  const content = Buffer.from("one\r\ntwo\nthree\r\nfour");
  const edit = async (old: string, now: string): Promise<string> => {
    const { ranges } = await findOccurrences(content, old);
    return replaceRanges(content, toReplacements(content, ranges, old, now)).toString();
  };
  expect(await edit("one", "1\n1b")).toBe("1\r\n1b\r\ntwo\nthree\r\nfour");
  expect(await edit("two", "2\n2b")).toBe("one\r\n2\n2b\nthree\r\nfour");
  expect(await edit("four", "4\n4b")).toBe("one\r\ntwo\nthree\r\n4\r\n4b");
  expect(await edit("one\r\n", "one\n")).toBe("one\ntwo\nthree\r\nfour");
  expect(await edit("two\n", "two\r\n")).toBe("one\r\ntwo\r\nthree\r\nfour");
});

test("the search ends behind the most matches that are wanted, across CRLF too", async () => {
  const find = async (content: string, old: string): Promise<number> =>
    (await findOccurrences(Buffer.from(content), old, { maxCount: 2 })).ranges.length;
  expect(await find("a".repeat(9), "a")).toBe(2);
  expect(await find("a\r\nb\r\n".repeat(9), "a\nb")).toBe(2);
  expect(await find("a\r\nb\r\n", "a\nb")).toBe(1);
});

test("matches are found wherever they lie to the windows in which a large file is searched", async () => {
  const MiB = 1024 * 1024;
  for (const at of [MiB - 5, MiB - 1, MiB, 2 * MiB - 2]) {
    const content = Buffer.alloc(2 * MiB + 3, ".");
    content.write("needle", at);
    expect((await findOccurrences(content, "needle")).ranges).toEqual(
      at + 6 <= content.length ? [{ start: at, end: at + 6 }] : [],
    );
  }
  const all = (await findOccurrences(Buffer.alloc(3 * MiB, "abc"), "abc")).ranges;
  expect(all).toHaveLength(MiB);
  expect(all.every(({ start }, i) => start === 3 * i)).toBe(true);
});

test("very many matches in one long line are all replaced", async () => {
  const content = Buffer.from("ab".repeat(50_000));
  const { ranges } = await findOccurrences(content, "a");
  const edited = replaceRanges(content, toReplacements(content, ranges, "a", "x\ny"));
  expect(edited.length).toBe(200_000);
});
