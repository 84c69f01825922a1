import { expect, test } from "vitest";
import { dollars, priceList, shortTokens, spendingLine } from "./figures.ts";

const usage = { cache_read: 1000, cache_write: 234, output: 56, total: 1290 };

test("tokens and cost are one line", () => {
  expect(spendingLine({ usage, cost_usd: 0.01234 })).toBe("1,234 tokens in (1,000 cached), 56 out, $0.0123");
  expect(spendingLine({ usage: { ...usage, cache_read: 0 } })).toBe("234 tokens in, 56 out");
});

test.each([
  [0, "$0.0000"],
  [0.00001, "<$0.0001"],
  [0.9, "$0.9000"],
  [12.3456, "$12.35"],
])("%d is %s", (amount, text) => {
  expect(dollars(amount)).toBe(text);
});

test.each([
  [999, "999"],
  [65_536, "66k"],
  [200_000, "200k"],
  [1_048_576, "1.05M"],
  [1_000_000, "1M"],
])("%d tokens are %s", (tokens, text) => {
  expect(shortTokens(tokens)).toBe(text);
});

test("prices are listed as --price takes them", () => {
  expect(priceList({ input: 3, cache_read: 0.3, cache_write: 3.75, output: 15 })).toBe("3,0.3,3.75,15");
  expect(priceList({ cache_read: 0.3, cache_write: 3, output: 15 })).toBe("3,0.3,3,15");
});
