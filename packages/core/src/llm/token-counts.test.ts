import { expect, test } from "vitest";
import { countsOf, soundUsage } from "./token-counts.ts";

test.each([-50, 1e308, Number.NaN, 0.5])("%d is no number of tokens, and counts as not told", (count) => {
  const usage = soundUsage({
    inputTokens: { total: 1000, noCache: count, cacheRead: count, cacheWrite: count },
    outputTokens: { total: count, text: count, reasoning: count },
  });
  expect(usage.outputTokens.total).toBeUndefined();
  expect(countsOf(usage)).toEqual({ cache_read: 0, cache_write: 1000, output: 0, total: 1000 });
});
