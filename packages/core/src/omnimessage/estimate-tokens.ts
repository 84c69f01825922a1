import { isCompleteModelMessage } from "./guards.ts";
import type { CompletePayload, OmniMessage } from "./message.ts";

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
