import fc from "fast-check";
import { expect, test } from "vitest";
import { assistantText, userText } from "./build.ts";
import { readJsonLines, readMessages, toJsonLine } from "./json-lines.ts";

test("every line is read with its number", async () => {
  expect(await read('{"a":1}\n[2]\n"three"\n')).toEqual([
    { line: 1, value: { a: 1 } },
    { line: 2, value: [2] },
    { line: 3, value: "three" },
  ]);
});

test("only LF ends a line: U+2028, U+2029, U+0085 and a lone CR inside a line are data", async () => {
  const text = "a\u2028b\u2029c\u0085d";
  expect(await read(`"${text}"\n1 \r 2\n`)).toEqual([
    { line: 1, value: text },
    { line: 2, problem: 'is not JSON: "1 \\r 2"', torn: false },
  ]);
});

test("CRLF, blank lines and a byte order mark at the start are tolerated", async () => {
  expect(await read("\uFEFF1\r\n\r\n  \t\n\n2\r\n")).toEqual([
    { line: 1, value: 1 },
    { line: 5, value: 2 },
  ]);
  expect(await read('"\uFEFF"\n')).toEqual([{ line: 1, value: "\uFEFF" }]);
  expect(await read("\uFEFF")).toEqual([]);
  expect(await read("")).toEqual([]);
});

test("a bad line in the middle is reported and the reading goes on", async () => {
  expect(await read('{"a":1}\n{"b":\n\u0000\u0000\n{"c":3}\n')).toEqual([
    { line: 1, value: { a: 1 } },
    { line: 2, problem: 'is not JSON: "{\\"b\\":"', torn: false },
    { line: 3, problem: 'is not JSON: "\\u0000\\u0000"', torn: false },
    { line: 4, value: { c: 3 } },
  ]);
});

test("a last line without LF counts if it is whole and is torn if it is not", async () => {
  expect(await read('1\n{"a":1}')).toEqual([
    { line: 1, value: 1 },
    { line: 2, value: { a: 1 } },
  ]);
  expect(await read('1\n{"a":')).toEqual([
    { line: 1, value: 1 },
    { line: 2, problem: 'is not JSON: "{\\"a\\":"', torn: true },
  ]);
});

test("a problem quotes no more than the start of its line", async () => {
  const [problem] = await read(`${"x".repeat(1000)}\n`);
  expect(problem).toEqual({ line: 1, problem: `is not JSON: "${"x".repeat(40)}..."`, torn: false });
});

test("bytes that are not UTF-8 are read as U+FFFD", async () => {
  const bytes = new Uint8Array([0x22, 0xff, 0x22, 0x0a, 0x22, 0xc3]);
  expect(await collect(readJsonLines(chunksOf(bytes, [])))).toEqual([
    { line: 1, value: "\uFFFD" },
    { line: 2, problem: 'is not JSON: "\\"\uFFFD"', torn: true },
  ]);
});

test("where the chunks are cut does not matter", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: "binary" })), { maxLength: 6 }),
      fc.boolean(),
      fc.array(fc.nat({ max: 300 })),
      async (values, mark, cuts) => {
        const text = values.map((value) => `${JSON.stringify(value)}\n`).join("");
        const bytes = new TextEncoder().encode((mark ? "\uFEFF" : "") + text);
        const expected = values.map((value, i) => ({
          line: i + 1,
          value: JSON.parse(JSON.stringify(value)) as unknown,
        }));
        expect(await collect(readJsonLines(chunksOf(bytes, cuts)))).toEqual(expected);
      },
    ),
  );
});

test("cut off at any byte, the input gives the whole lines before it and at most one torn line", async () => {
  const bytes = new TextEncoder().encode(
    `${toJsonLine(userText("größe \u2028 🐦"))}${toJsonLine(assistantText("b\n"))}`,
  );
  const firstEnd = bytes.indexOf(0x0a) + 1;
  for (let end = 0; end <= bytes.length; end += 1) {
    const items = await collect(readMessages(chunksOf(bytes.subarray(0, end), [])));
    const whole = Number(end >= firstEnd - 1) + Number(end >= bytes.length - 1);
    const isCut = ![0, firstEnd - 1, firstEnd, bytes.length - 1, bytes.length].includes(end);
    expect(items.map((item) => ("torn" in item ? item.torn : "message"))).toEqual([
      ...Array<string>(whole).fill("message"),
      ...(isCut ? [true] : []),
    ]);
  }
});

test("a line that arrives in very many chunks is read in linear time", async () => {
  const piece = new TextEncoder().encode("x".repeat(100));
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode('"');
    for (let i = 0; i < 50_000; i += 1) yield piece;
    yield new TextEncoder().encode('"\n');
  }
  const [item] = await collect(readJsonLines(chunks()));
  expect(item).toMatchObject({ line: 1 });
  expect(item && "value" in item && String(item.value).length).toBe(5_000_000);
});

test("an error of the source passes through, after the lines before it", async () => {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode("1\n2");
    throw new Error("EIO");
  }
  const items: unknown[] = [];
  const reading = async (): Promise<void> => {
    for await (const item of readJsonLines(chunks())) items.push(item);
  };
  await expect(reading()).rejects.toThrow("EIO");
  expect(items).toEqual([{ line: 1, value: 1 }]);
});

test("readMessages yields messages and says what keeps other values from being one", async () => {
  const message = userText("hi");
  const text = `${toJsonLine(message)}{"type":"model_msg"}\n7\n{"timest`;
  expect(await collect(readMessages(chunksOf(new TextEncoder().encode(text), [])))).toEqual([
    { line: 1, message },
    { line: 2, problem: "is not a message: timestamp is missing; payload is missing", torn: false },
    { line: 3, problem: "is not a message: the message must be an object", torn: false },
    { line: 4, problem: 'is not JSON: "{\\"timest"', torn: true },
  ]);
});

test("a message written as a line is read back as it was", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
      const message = userText(text);
      expect(toJsonLine(message).indexOf("\n")).toBe(toJsonLine(message).length - 1);
      const bytes = new TextEncoder().encode(toJsonLine(message));
      expect(await collect(readMessages(chunksOf(bytes, [])))).toEqual([{ line: 1, message }]);
    }),
  );
});

function read(text: string): Promise<unknown[]> {
  return collect(readJsonLines(chunksOf(new TextEncoder().encode(text), [])));
}

/** The bytes in pieces of the given lengths, with the rest as the last one. */
async function* chunksOf(bytes: Uint8Array, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const length of lengths) {
    yield bytes.subarray(start, start + length);
    start += length;
  }
  yield bytes.subarray(start);
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
