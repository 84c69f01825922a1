import type { TokenCounts } from "./message.ts";

export const NO_TOKENS: TokenCounts = { cache_read: 0, cache_write: 0, output: 0, total: 0 };

export function addTokens(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
    output: a.output + b.output,
    total: a.total + b.total,
  };
}
