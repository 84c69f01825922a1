import { isCompleteModelMessage } from "../omnimessage/guards.ts";
import type { CompletePayload, OmniMessage } from "../omnimessage/message.ts";

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

/** A rough count of tokens: four ASCII characters one, any other character one of its own. */
export function estimateTokens(text: string): number {
  let ascii = 0;
  let others = 0;
  for (const character of text) {
    if (character <= "\u007f") ascii += 1;
    else others += 1;
  }
  return Math.ceil(ascii / 4) + others;
}

/** The same for messages; an image counts 1600 whatever its size. */
export function estimateMessageTokens(messages: readonly OmniMessage[]): number {
  return messages.filter(isCompleteModelMessage).reduce((sum, { payload }) => sum + tokensOf(payload), 0);
}

const MIN_WINDOW_TOKENS = 4096;
const RESERVE_TOKENS = 1024;
const MIN_OUTPUT_TOKENS = 512;
const IMAGE_TOKENS = 1600;

function tokensOf(payload: CompletePayload): number {
  switch (payload.type) {
    case "text":
      return estimateTokens(payload.text);
    case "thinking":
      return estimateTokens(payload.thinking);
    case "tool_call":
      return estimateTokens(payload.name) + estimateTokens(payload.arguments);
    case "tool_call_output":
      return estimateTokens(payload.output) + (payload.images?.length ?? 0) * IMAGE_TOKENS;
    default:
      return IMAGE_TOKENS;
  }
}
