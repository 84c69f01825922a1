import { expect, test } from "vitest";
import { IdleWatch, WatchedReader } from "./idle-timeout.ts";

const never = new Promise<never>(() => undefined);

test("what answers in time is passed on, failures too", async () => {
  const watch = new IdleWatch(undefined, 10_000);
  expect(await watch.wait(Promise.resolve(7))).toBe(7);
  await expect(watch.wait(Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  watch.dispose();
});

test("silence ends a wait with timeout, and each wait has the whole time (PC-036)", async () => {
  const watch = new IdleWatch(undefined, 20);
  await expect(watch.wait(never)).rejects.toMatchObject({ status: "timeout" });
  expect(await watch.wait(Promise.resolve("again"))).toBe("again");
  await expect(watch.wait(never)).rejects.toMatchObject({ status: "timeout" });
  watch.dispose();
});

test("time between two waits does not count (PC-036)", async () => {
  const watch = new IdleWatch(undefined, 20);
  await watch.wait(Promise.resolve());
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(await watch.wait(Promise.resolve("still here"))).toBe("still here");
  watch.dispose();
});

test("a time-out of zero or less, and a wait for something else than the provider, never end by themselves", async () => {
  const unlimited = new IdleWatch(undefined, 0);
  const limited = new IdleWatch(undefined, 10);
  const later = (): Promise<string> => new Promise((resolve) => setTimeout(() => resolve("late"), 40));
  expect(await Promise.all([unlimited.wait(later()), limited.wait(later(), false)])).toEqual(["late", "late"]);
  unlimited.dispose();
  limited.dispose();
});

test("an abort ends a wait at once, and every later one, though what is waited for ignores it (PC-010)", async () => {
  const user = new AbortController();
  const watch = new IdleWatch(user.signal, 10_000);
  const waiting = watch.wait(never);
  user.abort();
  await expect(waiting).rejects.toMatchObject({ status: "aborted" });
  await expect(watch.wait(Promise.resolve())).rejects.toMatchObject({ status: "aborted" });
  watch.dispose();
});

test("after an interruption the rest that had arrived is still there, the part it fell upon included", async () => {
  const user = new AbortController();
  const watch = new IdleWatch(user.signal, 0);
  let source: ReadableStreamDefaultController<string> | undefined;
  const stream = new ReadableStream<string>({
    start: (controller) => {
      source = controller;
    },
  });
  const reader = new WatchedReader(stream, watch);
  const waiting = reader.next();
  user.abort();
  await expect(waiting).rejects.toMatchObject({ status: "aborted" });
  source?.enqueue("one");
  source?.enqueue("two");
  source?.close();
  expect(await reader.rest()).toEqual(["one", "two"]);
  expect(watch.signal.aborted).toBe(true);
});

test("a stream that goes on or falls silent after an interruption is abandoned", async () => {
  const user = new AbortController();
  const watch = new IdleWatch(user.signal, 0);
  let cancelled = false;
  const stream = new ReadableStream<string>({
    cancel: () => {
      cancelled = true;
    },
  });
  const reader = new WatchedReader(stream, watch);
  const waiting = reader.next();
  user.abort();
  await expect(waiting).rejects.toMatchObject({ status: "aborted" });
  expect(await reader.rest()).toEqual([]);
  reader.abandon();
  expect(cancelled).toBe(true);
});
