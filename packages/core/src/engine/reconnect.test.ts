import { expect, test } from "vitest";
import { reconnectDelayMs } from "./reconnect.ts";

test("waits double from 2 s and stay at 30 s", () => {
  const middle = () => 0.5;
  expect([1, 2, 3, 4, 5].map((attempt) => reconnectDelayMs(attempt, {}, middle))).toEqual([
    2_000, 4_000, 8_000, 16_000, 30_000,
  ]);
});

test("jitter moves a wait by up to a fifth and never past 30 s", () => {
  expect(reconnectDelayMs(1, {}, () => 0)).toBe(1_600);
  expect(reconnectDelayMs(1, {}, () => 1)).toBe(2_400);
  expect(reconnectDelayMs(5, {}, () => 1)).toBe(30_000);
});

test("what the provider asked for is waited as it is", () => {
  expect(reconnectDelayMs(3, { retryAfterMs: 3_000 }, () => 0)).toBe(3_000);
});
