import type { ModelPricing, Spending } from "@rookery/core";

/** Tokens and cost on one line: `1,234 tokens in (1,000 cached), 56 out, $0.0123`; without a cost that is not known. */
export function spendingLine({ usage, cost_usd: cost }: Pick<Spending, "usage" | "cost_usd">): string {
  const cached = usage.cache_read > 0 ? ` (${grouped(usage.cache_read)} cached)` : "";
  const input = `${grouped(usage.cache_read + usage.cache_write)} tokens in${cached}`;
  return [input, `${grouped(usage.output)} out`, ...(cost === undefined ? [] : [dollars(cost)])].join(", ");
}

/** An amount in USD to a hundredth of a cent. */
export function dollars(amount: number): string {
  return amount > 0 && amount < 0.0001 ? "<$0.0001" : `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
}

/** A number of tokens in a few characters: `200k`, `1.05M`. */
export function shortTokens(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  return tokens < 1_000_000 ? `${Math.round(tokens / 1000)}k` : `${Number((tokens / 1_000_000).toFixed(2))}M`;
}

/** Prices as `--price` takes them: input, read from the cache, written to it, output. */
export function priceList({ input, cache_read, cache_write, output }: ModelPricing): string {
  return [input ?? cache_write, cache_read, cache_write, output].join(",");
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
