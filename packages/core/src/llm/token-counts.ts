import type { LanguageModelV3Usage } from "@ai-sdk/provider";
import type { TokenCounts } from "../omnimessage/message.ts";

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

/** A number of tokens; absent for what cannot be one. */
export function sound(count: number | undefined): number | undefined {
  return Number.isSafeInteger(count) && Number(count) >= 0 ? count : undefined;
}
