import { expect, test } from "vitest";
import { foregroundWindowMs } from "./foreground-window.ts";

test.each([
  [undefined, 60_000],
  [Number.NaN, 60_000],
  ["soon", 60_000],
  [Number.POSITIVE_INFINITY, 60_000],
  [700, 700],
  [250, 250],
  [249, 250],
  [0, 250],
  [-5, 250],
])("of %j asked for, a window of 60000 by default is %d ms: at least 250 (PT-094, PT-095)", (askedMs, windowMs) => {
  expect(foregroundWindowMs(askedMs, 60_000, 120_000)).toBe(windowMs);
});

test.each([
  [300_000, 120_000, 119_000],
  [119_500, 120_000, 119_000],
  [60_000, 1500, 750],
  [60_000, 200, 100],
])("of %d ms asked for under a time-out of %d ms, the window is %d ms (PT-096)", (askedMs, timeoutMs, windowMs) => {
  expect(foregroundWindowMs(askedMs, 5000, timeoutMs)).toBe(windowMs);
});

test("without a time-out a window is as long as was asked for", () => {
  expect(foregroundWindowMs(1e9, 5000, undefined)).toBe(1e9);
});
