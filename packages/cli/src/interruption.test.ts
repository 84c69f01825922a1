import { expect, test } from "vitest";
import { fakeIo } from "../test/support/fake-io.ts";
import { watchInterruption } from "./interruption.ts";
import { OutputStream } from "./output-stream.ts";

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("the first %s aborts, the second leaves with %d at once", (name, code) => {
  const io = fakeIo();
  const interruption = watchInterruption(io, new OutputStream(io.stdout));
  io.signals.emit(name);
  expect(interruption.signal.aborted).toBe(true);
  expect(interruption.exitCode).toBe(code);
  expect(io.exits).toEqual([]);
  io.signals.emit(name);
  expect(io.exits).toEqual([code]);
  interruption.stop();
});

test("at a terminal the first Ctrl-C tells of the second", async () => {
  const io = fakeIo({ isTTY: true });
  watchInterruption(io, new OutputStream(io.stdout));
  io.signals.emit("SIGINT");
  expect(io.err()).toBe("\nrookery: stopping; press Ctrl-C again to leave at once\n");
});

test("the time limit aborts with a TimeoutError and is no signal", async () => {
  const io = fakeIo();
  const interruption = watchInterruption(io, new OutputStream(io.stdout), 1);
  await new Promise((resolve) => interruption.signal.addEventListener("abort", resolve));
  expect(interruption.signal.reason).toMatchObject({ name: "TimeoutError" });
  expect(interruption.exitCode).toBeUndefined();
});

test("when it is stopped the signals are free again", () => {
  const io = fakeIo();
  watchInterruption(io, new OutputStream(io.stdout), 60_000).stop();
  expect(io.signals.eventNames()).toEqual([]);
});
