/**
 * A JSON text without lone surrogates: each becomes U+FFFD, since providers refuse a request that holds one.
 *
 * `JSON.stringify` writes a lone surrogate, and nothing else, as a `\udXXX` escape of its own; an escape inside a string
 * that itself holds JSON has its backslash doubled and stays.
 */
export function wellFormedBody(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\(?:\\|ud[89a-f][0-9a-f]{2})/g, (match) => (match === "\\\\" ? match : "\\ufffd"));
}
