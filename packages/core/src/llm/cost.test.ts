import type { LanguageModelV3Usage } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { costOf } from "./cost.ts";

const pricing = { input: 3, cache_read: 0.3, cache_write: 3.75, output: 15 };

test("each kind of token has its own price", () => {
  const usage = counts({ total: 1_000_000, cacheRead: 600_000, cacheWrite: 100_000 }, 200_000);
  expect(costOf(usage, pricing)).toBe(0.9 + 0.18 + 0.375 + 3);
});

test("what the provider does not tell apart is uncached input", () => {
  expect(costOf(counts({ total: 1000 }, 10), pricing)).toBe(0.00315);
});

test("without a price of its own uncached input costs what written input costs", () => {
  const usage = counts({ total: 1000, cacheRead: 400, cacheWrite: 100 }, 0);
  expect(costOf(usage, { cache_read: 1, cache_write: 2, output: 3 })).toBe(0.0016);
});

test("reasoning is part of the output and is not paid twice", () => {
  const usage: LanguageModelV3Usage = {
    ...counts({ total: 0 }, 100),
    outputTokens: { total: 100, text: 20, reasoning: 80 },
  };
  expect(costOf(usage, pricing)).toBe(0.0015);
});

test("more cached tokens than tokens do not lower the price", () => {
  expect(costOf(counts({ total: 10, cacheRead: 1000 }, 0), pricing)).toBe(0.0003);
});

test("sums end where binary fractions begin", () => {
  expect(costOf(counts({ total: 1234 }, 0), { cache_read: 0, cache_write: 0.15, output: 0 })).toBe(0.0001851);
});

test("a provider that tells no count has no known cost", () => {
  expect(costOf(counts({ total: undefined }, 5), pricing)).toBeUndefined();
  expect(costOf(counts({ total: 5 }, undefined), pricing)).toBeUndefined();
});

function counts(
  input: { total: number | undefined; cacheRead?: number; cacheWrite?: number },
  output: number | undefined,
): LanguageModelV3Usage {
  return {
    inputTokens: { noCache: undefined, cacheRead: undefined, cacheWrite: undefined, ...input },
    outputTokens: { total: output, text: undefined, reasoning: undefined },
  };
}
