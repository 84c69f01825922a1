import type { ProviderFailure } from "./provider-failure.ts";

/**
 * True when a provider says that the input does not fit the model's context window: by its own name for it, or by the words
 * that services and local servers use. A rate limit may speak of tokens too and is none.
 */
export function isContextOverflow({ status, types, words, answered }: ProviderFailure): boolean {
  if (status === 429 || !answered) return false;
  return types.some((type) => TYPES.test(type)) || WORDS.test(words);
}

const TYPES = /context_length_exceeded|exceed_context_size|context_window|^tokens_limit_reached$/;

const WORDS = new RegExp(
  [
    /maximum context length/,
    /context (length|window|size|limit)[^.;]{0,100}(?<!\bnot )\bexceed/,
    /(?<!\bnot )\bexceed[^.;]{0,100}context (length|window|size|limit)/,
    /(longer|greater|larger) than [^.;]{0,100}(context|model) (length|window|size)/,
    /context length of only \d+/,
    /maximum (prompt|model) length/,
    /(model|prompt|input) token (count|limit)[^.;]{0,60}(exceeds?|only supports|: \d)/,
    /exceed(s|ed)? [^.;]{0,40}(model token limit|max(imum)? length|max(imum)? context|maximum number of tokens)/,
    /token count[^.;]{0,60}( exceeds the (maximum|limit)| only supports up to)/,
    /input tokens exceed|range of input length should be|input length \d+ exceeds/,
    /`inputs` tokens \+ `max_new_tokens` must be <=/,
    /(prompt|input) (is )?too long|too many input tokens|too large for model with \d+/,
    /reduce the length of the (messages|prompt|input)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "i",
);
