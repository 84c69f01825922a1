import { RookeryError } from "../errors/rookery-error.ts";

/**
 * The headers of a request under lower-case names; a configured one stands for that of the key.
 *
 * @throws {RookeryError} `model-auth` when the key cannot be sent, `config-invalid` when another header cannot.
 */
export function requestHeaders(
  ofKey: Readonly<Record<string, string>>,
  configured: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const own = Object.fromEntries(Object.entries(configured).map(([name, value]) => [name.toLowerCase(), value]));
  for (const [name, value] of Object.entries(own)) {
    if (isSendable(value)) continue;
    throw new RookeryError("config-invalid", `the header ${name} cannot be sent: ${WHY}`);
  }
  for (const [name, value] of Object.entries(ofKey)) {
    if (name in own || isSendable(value)) continue;
    throw new RookeryError("model-auth", `the key cannot be sent: ${WHY}`, {
      hint: "copy the key again, without quotes or line breaks",
    });
  }
  return { ...ofKey, ...own };
}

const WHY = "it holds a line break or a character that HTTP headers do not allow";

/** White space around a value is taken off on the way. */
function isSendable(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value.trim());
}
