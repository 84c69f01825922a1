import type { LanguageModelV3Usage } from "@ai-sdk/provider";

/** What a model costs, in USD per million tokens. */
export interface ModelPricing {
  /** Input that is neither read from the provider's cache nor written to it; absent: as `cache_write`. */
  readonly input?: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly output: number;
}

/**
 * What a request cost in USD, by the provider's own count of each kind of token. List prices: surcharges for long
 * contexts and faster tiers are not known here.
 *
 * @returns `undefined` when the provider did not say how many tokens it took.
 */
export function costOf({ inputTokens, outputTokens }: LanguageModelV3Usage, pricing: ModelPricing): number | undefined {
  const { total, cacheRead = 0, cacheWrite = 0 } = inputTokens;
  if (total === undefined || outputTokens.total === undefined) return undefined;
  const plain = Math.max(0, total - cacheRead - cacheWrite);
  const perMillion =
    plain * (pricing.input ?? pricing.cache_write) +
    cacheRead * pricing.cache_read +
    cacheWrite * pricing.cache_write +
    outputTokens.total * pricing.output;
  return Number((perMillion / 1_000_000).toFixed(DECIMALS));
}

/** Beyond these there is only the dust of binary fractions. */
const DECIMALS = 12;
