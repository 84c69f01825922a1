import type { LanguageModelV3Usage } from "@ai-sdk/provider";
import type { TokenCounts } from "../omnimessage/message.ts";

export const NO_TOKENS: TokenCounts = { cache_read: 0, cache_write: 0, output: 0, total: 0 };

export function addTokens(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
    output: a.output + b.output,
    total: a.total + b.total,
  };
}

/** What is not cached of the input counts as `cache_write`; a provider that tells nothing costs nothing. */
export function countsOf({ inputTokens, outputTokens }: LanguageModelV3Usage): TokenCounts {
  const cacheRead = inputTokens.cacheRead ?? 0;
  const cacheWrite = Math.max(0, (inputTokens.total ?? 0) - cacheRead);
  const output = outputTokens.total ?? 0;
  return { cache_read: cacheRead, cache_write: cacheWrite, output, total: cacheRead + cacheWrite + output };
}

/** A provider's usage without what cannot be a number of tokens. */
export function soundUsage({ inputTokens, outputTokens }: LanguageModelV3Usage): LanguageModelV3Usage {
  const { total, noCache, cacheRead, cacheWrite } = inputTokens;
  const { total: output, text, reasoning } = outputTokens;
  return {
    inputTokens: {
      total: sound(total),
      noCache: sound(noCache),
      cacheRead: sound(cacheRead),
      cacheWrite: sound(cacheWrite),
    },
    outputTokens: { total: sound(output), text: sound(text), reasoning: sound(reasoning) },
  };
}

function sound(count: number | undefined): number | undefined {
  return Number.isSafeInteger(count) && Number(count) >= 0 ? count : undefined;
}
