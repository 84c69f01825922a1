/**
 * The output limit to send, in tokens: the configured one, lowered to what the context window leaves.
 *
 * Without a configured limit none is sent, nor for one that is not positive. A window under 4096 tokens is taken for a
 * slip and lowers nothing. At least 512 tokens are left, so that a full window is the provider's to refuse.
 *
 * @returns `undefined` when no limit is to be sent.
 */
export function outputCap(
  configuredTokens: number | undefined,
  windowTokens: number | undefined,
  estimateInputTokens: () => number,
): number | undefined {
  if (configuredTokens === undefined || configuredTokens <= 0) return undefined;
  if (windowTokens === undefined || windowTokens < MIN_WINDOW_TOKENS) return configuredTokens;
  const left = windowTokens - estimateInputTokens() - RESERVE_TOKENS;
  return Math.min(configuredTokens, Math.max(left, MIN_OUTPUT_TOKENS));
}

const MIN_WINDOW_TOKENS = 4096;
const RESERVE_TOKENS = 1024;
const MIN_OUTPUT_TOKENS = 512;
