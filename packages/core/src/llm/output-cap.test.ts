import { expect, test } from "vitest";
import { outputCap } from "./output-cap.ts";

test("without a configured limit, or with one that is not positive, none is sent (PC-033)", () => {
  expect(outputCap(undefined, 32_000, () => 0)).toBeUndefined();
  expect(outputCap(0, 32_000, () => 0)).toBeUndefined();
  expect(outputCap(-1, 32_000, () => 0)).toBeUndefined();
});

test("the configured limit is lowered to what the window leaves, and never under 512", () => {
  expect(outputCap(8000, 32_000, () => 1000)).toBe(8000);
  expect(outputCap(32_000, 32_000, () => 1000)).toBe(29_976);
  expect(outputCap(32_000, 32_000, () => 31_990)).toBe(512);
  expect(outputCap(100, 32_000, () => 31_990)).toBe(100);
});

test("an unknown window, or one too small to be meant, lowers nothing (PC-033)", () => {
  expect(outputCap(32_000, undefined, () => 31_000)).toBe(32_000);
  expect(outputCap(32_000, 1, () => 31_000)).toBe(32_000);
  expect(outputCap(32_000, 4095, () => 31_000)).toBe(32_000);
});
