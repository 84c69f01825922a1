import { jsonText, parseJson } from "../../json-value.ts";
import type { ProviderFailure } from "../../provider-failure.ts";

/**
 * The packages send a text verbatim, except where keys in it look like an attack on prototypes: then they quote it again,
 * and have to be given the value. One that is too deep for that goes back as an empty object.
 */
export function callInput(text: string): unknown {
  if (!/proto|\\u/.test(text)) return text;
  const value = parseJson(text);
  const written = jsonText(value);
  if (written === undefined) return text.includes("\\u") || SUSPECT_KEYS.test(text) ? "{}" : text;
  return SUSPECT_KEYS.test(written) ? value : text;
}

const SUSPECT_KEYS = /"(__proto__|prototype)"\s*:/;

/** OpenAI's code, and the words of compatible servers; a rate limit may speak of tokens too and is none. */
export function isOverflow({ status, types, words }: ProviderFailure): boolean {
  if (status === 429) return false;
  return types.some((type) => OVERFLOW_TYPES.test(type)) || OVERFLOW_WORDS.test(words);
}

const OVERFLOW_TYPES = /context_length_exceeded|exceed_context_size|context_window|^tokens_limit_reached$/;
const OVERFLOW_WORDS = new RegExp(
  [
    /maximum context length/,
    /context (length|window|size)[^.;]{0,100}(?<!\bnot )\bexceed/,
    /(?<!\bnot )\bexceed[^.;]{0,100}context (length|window|size)/,
    /(longer|greater|larger) than [^.;]{0,100}context (length|window|size)/,
    /token count of \d+ exceeds the limit of \d+/,
    /`inputs` tokens \+ `max_new_tokens` must be <=/,
    /prompt is too long|input is too long|too many input tokens/,
    /reduce the length of the (messages|prompt|input)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "i",
);
