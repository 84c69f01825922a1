import type { LanguageModelV3StreamPart } from "@ai-sdk/provider";

/**
 * A part of the package's stream; the end of a reply with the input that came from the cache also where the server counts
 * it in a field of its own: DeepSeek in `prompt_cache_hit_tokens`, Moonshot in `cached_tokens` beside the other counts.
 */
export function withCachedInput(part: LanguageModelV3StreamPart): LanguageModelV3StreamPart {
  if (part.type !== "finish") return part;
  const { inputTokens, raw } = part.usage;
  const cacheRead = raw?.prompt_cache_hit_tokens ?? raw?.cached_tokens;
  if (inputTokens.cacheRead || inputTokens.total === undefined || typeof cacheRead !== "number") return part;
  const counted = { ...inputTokens, cacheRead, noCache: inputTokens.total - cacheRead };
  return { ...part, usage: { ...part.usage, inputTokens: counted } };
}
