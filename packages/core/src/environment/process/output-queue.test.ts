import { expect, test } from "vitest";
import { OutputQueue } from "./output-queue.ts";

const chunk = (stream: "stdout" | "stderr", text: string) => ({ stream, bytes: Buffer.from(text) });

test("chunks are taken in order, neighbours of one stream as one", async () => {
  const queue = new OutputQueue(() => undefined);
  for (const [stream, text] of [
    ["stdout", "a"],
    ["stdout", "b"],
    ["stderr", ""],
    ["stderr", "c"],
    ["stdout", "d"],
  ] as const) {
    queue.push(chunk(stream, text));
  }
  expect(queue.length).toBe(4);
  queue.close();
  const taken = [];
  for (let next = await queue.take(); next; next = await queue.take()) taken.push(`${next.stream} ${next.pieces}`);
  expect(taken).toEqual(["stdout ab", "stderr c", "stdout d"]);
  expect(queue.length).toBe(0);
});

test("a reader that came first gets the chunk when it arrives", async () => {
  const queue = new OutputQueue(() => undefined);
  const next = queue.take();
  queue.push(chunk("stdout", "late"));
  expect(await next).toEqual({ stream: "stdout", pieces: [Buffer.from("late")] });
});

test("a reader that waits learns of the end", async () => {
  const queue = new OutputQueue(() => undefined);
  const next = queue.take();
  queue.close();
  expect(await next).toBeUndefined();
});

test("discarding drops what is there and what still comes", async () => {
  let taken = 0;
  const queue = new OutputQueue(() => taken++);
  queue.push(chunk("stdout", "a"));
  queue.discard();
  queue.push(chunk("stdout", "c"));
  expect(queue.length).toBe(0);
  expect(taken).toBe(1);
  expect(await queue.take()).toBeUndefined();
});
