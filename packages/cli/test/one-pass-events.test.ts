import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
// @ts-expect-error a script without types
import { onePassEvents } from "../../../scripts/one-pass-events.mjs";

interface Reader {
  parseJsonEventStream(source: { stream: ReadableStream<Uint8Array>; schema: unknown }): ReadableStream<Parsed>;
  jsonSchema(schema: object, options: { validate(value: unknown): unknown }): unknown;
}
type Parsed = { success: boolean; value?: unknown; error?: Error };

const theirs = await bundled([]);
const ours = await bundled([onePassEvents as Plugin]);

const line = fc.oneof(
  fc.json().map((json) => `data: ${json}`),
  fc.constantFrom(
    "data: [DONE]",
    "data:",
    "data: {broken",
    ": comment",
    "event: x",
    "id: 1",
    "retry: 5",
    "junk",
    "\ufeff",
  ),
  fc.string({ unit: "binary", maxLength: 5 }).map((text) => `data: ${JSON.stringify(text)}`),
);
const ending = fc.constantFrom("\n\n", "\r\n\r\n", "\r\r", "\n", "");
const stream = fc.array(fc.tuple(line, ending), { maxLength: 12 }).map((lines) => Buffer.from(lines.flat().join("")));

test("whatever the bytes and however they are cut, the bundle reads the events the packages read", async () => {
  await fc.assert(
    fc.asyncProperty(stream, fc.array(fc.nat(40), { maxLength: 20 }), async (bytes, cuts) => {
      expect(await read(ours, pieces(bytes, cuts))).toEqual(await read(theirs, pieces(bytes, cuts)));
    }),
    { numRuns: 300 },
  );
});

test.each([
  ["the packages", theirs],
  ["the bundle", ours],
])("for %s a stream that breaks gives what came before, then its own error", async (_, reader) => {
  const broken = new Error("terminated");
  const got = await read(reader, [Buffer.from('data: {"a":1}\n\n'), Buffer.from("data: {"), broken]);
  expect(got).toEqual([{ a: 1 }, broken]);
});

test.each([
  ["the packages", theirs],
  ["the bundle", ours],
])("for %s giving up ends the source", async (_, reader) => {
  let given: unknown;
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from('data: {"a":1}\n\n')),
    cancel: (reason) => {
      given = reason;
    },
  });
  const events = reader.parseJsonEventStream({ stream: source, schema: schemaOf(reader) }).getReader();
  await events.read();
  await events.cancel("enough");
  await vi.waitFor(() => expect(given).toBe("enough"));
});

/** The packages' reading of events, bundled as the command is. */
async function bundled(plugins: Plugin[]): Promise<Reader> {
  const outfile = join(mkdtempSync(join(tmpdir(), "rookery-events-")), "events.mjs");
  const contents = 'export { jsonSchema, parseJsonEventStream } from "@ai-sdk/provider-utils";';
  const resolveDir = join(import.meta.dirname, "../../core");
  await build({ stdin: { contents, resolveDir }, outfile, bundle: true, platform: "node", format: "esm", plugins });
  return import(outfile);
}

function schemaOf({ jsonSchema }: Reader): unknown {
  const validate = (value: unknown) =>
    value === null ? { success: false, error: new Error("null") } : { success: true, value };
  return jsonSchema({}, { validate });
}

/** The values of all events, errors as their messages; last what broke the stream. */
async function read(reader: Reader, chunks: readonly (Uint8Array | Error)[]): Promise<unknown[]> {
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) {
        if (chunk instanceof Error) return setTimeout(() => controller.error(chunk), 5);
        controller.enqueue(chunk);
      }
      return controller.close();
    },
  });
  const got: unknown[] = [];
  const events = reader.parseJsonEventStream({ stream: source, schema: schemaOf(reader) }).getReader();
  try {
    for (;;) {
      const { done, value } = await events.read();
      if (done) return got;
      got.push(value.success ? value.value : String(value.error));
    }
  } catch (error) {
    return [...got, error];
  }
}

function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let from = 0;
  for (const length of cuts) {
    if (length > 0) chunks.push(bytes.subarray(from, from + length));
    from += length;
  }
  return [...chunks, bytes.subarray(from)].filter((chunk) => chunk.length > 0);
}
