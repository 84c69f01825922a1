/** Takes credentials out of a text that people and traces will see: the given ones, and what looks like one. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  let redacted = text;
  for (const secret of secrets) {
    if (secret.length >= MIN_SECRET_CHARACTERS) redacted = redacted.replaceAll(secret, REDACTED);
  }
  return redacted
    .replace(/\b(Bearer)\s+[\w.~+/-]{8,}=*/gi, `$1 ${REDACTED}`)
    .replace(/([?&](?:api[_-]?key|key|token|access_token)=)[^&\s"']+/gi, `$1${REDACTED}`);
}

const REDACTED = "[redacted]";
/** Anything shorter is a stand-in for a key, and part of ordinary words. */
const MIN_SECRET_CHARACTERS = 4;
