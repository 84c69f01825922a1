import fc from "fast-check";
import { expect, test } from "vitest";
import { DecodedOutput } from "./decode-output.ts";
import { OutputQueue } from "./output-queue.ts";

async function decoded(pieces: readonly Buffer[], vault?: Record<string, string>): Promise<string> {
  const queue = new OutputQueue(() => undefined);
  for (const [i, bytes] of pieces.entries()) {
    // The other stream in between keeps neighbours apart.
    queue.push({ stream: "stdout", bytes });
    queue.push({ stream: "stderr", bytes: Buffer.from(String(i)) });
  }
  queue.close();
  let text = "";
  for await (const chunk of new DecodedOutput(queue, vault)) {
    if (chunk.plain) expect(chunk.text).toBe(Buffer.concat(chunk.plain).toString());
    if (chunk.plain) expect(chunk.text).toMatch(/^[\x20-\x7e\n\t]+$/);
    if (chunk.stream === "stdout") text += chunk.text;
  }
  return text;
}

test("however the bytes of a stream are cut, its text is the same", async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.string({ unit: "grapheme" }).map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(bytes, fc.nat(40), fc.nat(40), async (whole, a, b) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      const all = Buffer.from(whole);
      const pieces = [all.subarray(0, from), all.subarray(from, to), all.subarray(to)];
      expect(await decoded(pieces)).toBe(new TextDecoder("utf-8", { ignoreBOM: true }).decode(all));
    }),
  );
});

test("a vault value that is cut in two is replaced", async () => {
  const pieces = ["key: hunt", "er2-hunter2 end"].map((text) => Buffer.from(text));
  expect(await decoded(pieces, { KEY: "hunter2-hunter2" })).toBe("key: [vault:KEY] end");
});

test("leaving the loop discards what is there", async () => {
  const queue = new OutputQueue(() => undefined);
  queue.push({ stream: "stdout", bytes: Buffer.from("a") });
  queue.push({ stream: "stderr", bytes: Buffer.from("b") });
  for await (const _ of new DecodedOutput(queue, undefined)) break;
  expect(queue.length).toBe(0);
});

test("bytes of half a character stay before the plain ones behind them", async () => {
  const queue = new OutputQueue(() => undefined);
  const output = new DecodedOutput(queue, undefined);
  const next = output.next();
  queue.push({ stream: "stdout", bytes: Buffer.from([0xe2]) });
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  queue.push({ stream: "stdout", bytes: Buffer.from("plain") });
  expect((await next).value?.text).toBe("\ufffdplain");
});
