import { expect, test } from "vitest";
import { OutputQueue } from "./output-queue.ts";

test("chunks are read in order, neighbours of one stream as one", async () => {
  const queue = new OutputQueue(() => undefined);
  queue.push({ stream: "stdout", text: "a" });
  queue.push({ stream: "stdout", text: "b" });
  queue.push({ stream: "stderr", text: "" });
  queue.push({ stream: "stderr", text: "c" });
  queue.push({ stream: "stdout", text: "d" });
  expect(queue.length).toBe(4);
  queue.close();
  const chunks = [];
  for await (const { stream, text } of queue) chunks.push(`${stream} ${text}`);
  expect(chunks).toEqual(["stdout ab", "stderr c", "stdout d"]);
  expect(queue.length).toBe(0);
});

test("a reader that came first gets the chunk when it arrives", async () => {
  const queue = new OutputQueue(() => undefined);
  const next = queue.next();
  queue.push({ stream: "stdout", text: "late" });
  expect(await next).toEqual({ done: false, value: { stream: "stdout", text: "late" } });
});

test("leaving the loop discards what is there and what still comes", async () => {
  let taken = 0;
  const queue = new OutputQueue(() => taken++);
  queue.push({ stream: "stdout", text: "a" });
  queue.push({ stream: "stderr", text: "b" });
  for await (const _ of queue) break;
  queue.push({ stream: "stdout", text: "c" });
  expect(queue.length).toBe(0);
  expect(taken).toBe(2);
  expect(await queue.next()).toEqual({ done: true, value: undefined });
});
