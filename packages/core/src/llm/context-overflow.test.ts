import { expect, test } from "vitest";
import { isContextOverflow } from "./context-overflow.ts";
import { readProviderFailure } from "./provider-failure.ts";

function says(message: string, status = 400): boolean {
  const responseBody = JSON.stringify({ error: { message, type: "invalid_request_error" } });
  return isContextOverflow(
    readProviderFailure(Object.assign(new Error("x"), { name: "AI_APICallError", statusCode: status, responseBody })),
  );
}

test.each([
  "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  "invalid params, context window exceeds limit (2013)",
  "Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)",
  "prompt too long; exceeded max context length by 4 tokens",
  "The decoder prompt (length 5000) is longer than the maximum model length of 4096",
  "Prompt exceeds max length",
  "The number of tokens to keep from the initial prompt is greater than the context length",
  "The model is loaded with context length of only 4096 tokens, which is not enough.",
  "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  "Requested token count exceeds the model's maximum context length of 131072 tokens.",
  "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
  "prompt token count of 140000 exceeds the limit of 128000",
  "Please reduce the length of the messages or completion.",
  "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens",
  "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
  "The prompt is too long: 140000, model maximum context length: 131071",
  "prompt is too long: 210000 tokens > 200000 maximum",
  "the request exceeds the available context size",
  "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
  "Input length 5000 exceeds maximum allowed token size 4096",
  "Range of input length should be [1, 30720]",
  "input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000",
])("too long an input by the words of a provider: %s", (message) => {
  expect(says(message)).toBe(true);
  expect(says(message, 429)).toBe(false);
});

test.each([
  "max_tokens is too large: 300000. This model supports at most 16384 completion tokens",
  "max_tokens: 300000 > 64000, which is the maximum allowed number of output tokens for claude",
  "image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
  "The string is too long in tools[0].function.description",
  "Rate limit reached for tokens per minute (TPM): Limit 6000, Requested 7000",
  "the context length is 4096 tokens, which this request does not exceed",
])("another refusal is none: %s", (message) => {
  expect(says(message)).toBe(false);
});
