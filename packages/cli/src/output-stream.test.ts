import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";
import { OutputStream } from "./output-stream.ts";

test("what is written in one turn of the event loop leaves in one piece", async () => {
  const pieces: string[] = [];
  const output = new OutputStream(writable((text, done) => done(void pieces.push(text))));
  for (const text of ["a", "b", "c"]) expect(output.write(text)).toBeUndefined();
  await output.flush();
  output.write("d");
  await output.flush();
  expect(pieces.filter((piece) => piece !== "")).toEqual(["abc", "d"]);
});

test("a slow reader is waited for, and memory stays bounded", async () => {
  const pipe = new PassThrough({ highWaterMark: 1024 });
  const output = new OutputStream(pipe);
  const waiting = output.write("x".repeat(100_000));
  expect(waiting).toBeInstanceOf(Promise);
  let taken = false;
  void waiting?.then(() => {
    taken = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(taken).toBe(false);
  pipe.resume();
  await waiting;
  expect(taken).toBe(true);
});

test("a reader that went away does not throw, and is known by its error", async () => {
  const gone = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
  const output = new OutputStream(writable((_text, done) => done(gone)));
  output.write("a");
  await output.flush();
  expect(output.broken.reason).toBe(gone);
  output.write("b".repeat(200_000));
  await output.flush();
});

function writable(take: (text: string, done: (error?: Error | null) => void) => void): Writable {
  return new Writable({ write: (chunk, _encoding, done) => take(String(chunk), (error) => done(error ?? null)) });
}
