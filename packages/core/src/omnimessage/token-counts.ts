import type { EventPayload, TokenCounts, ToolUsage } from "./message.ts";

export const NO_TOKENS: TokenCounts = { cache_read: 0, cache_write: 0, output: 0, total: 0 };

export function addTokens(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
    output: a.output + b.output,
    total: a.total + b.total,
  };
}

/** What a request took, as a tool reports it; a cost that is not known counts as nothing. */
export function toToolUsage({ request, cost_usd = 0 }: EventPayload<"token_usage">): ToolUsage {
  return {
    input: request.cache_write,
    output: request.output,
    cacheRead: request.cache_read,
    cacheWrite: 0,
    totalTokens: request.total,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: cost_usd },
  };
}

/** What a tool reports that it spent, as an event. */
export function toolSpending(usage: ToolUsage): EventPayload<"token_usage"> {
  const { input, output, cacheRead, cacheWrite, totalTokens, cost } = usage;
  const counts = { cache_read: cacheRead, cache_write: input + cacheWrite, output, total: totalTokens };
  const costUsd = cost.total > 0 && { cost_usd: cost.total };
  return { type: "token_usage", request: counts, session: counts, ...costUsd, source: "tool" };
}
