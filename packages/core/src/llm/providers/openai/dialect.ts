import { jsonText, parseJson } from "../../json-value.ts";

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

export const OPENAI_URL = "https://api.openai.com/v1";

export function bearer(apiKey: string | undefined): Readonly<Record<string, string>> {
  return apiKey ? { authorization: `Bearer ${apiKey}` } : {};
}
