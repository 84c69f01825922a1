/** Takes credentials out of a text that people and traces will see: the given ones, and what looks like one. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  const written = new Set(secrets.filter((secret) => secret.length >= MIN_SECRET_CHARACTERS).flatMap(spellings));
  let redacted = text;
  for (const secret of [...written].sort((a, b) => b.length - a.length)) {
    redacted = redacted.replaceAll(secret, REDACTED);
  }
  return redacted
    .replace(/\b(Bearer)\s+[\w.~+/-]{8,}=*/gi, `$1 ${REDACTED}`)
    .replace(/([?&][\w.-]{0,40}(?:key|token|sig|signature|secret|password)=)[^&\s"'[]+/gi, `$1${REDACTED}`)
    .replace(/\b(https?|ftp):\/\/[^\s/@"']+@/gi, `$1://${REDACTED}@`);
}

/** The credentials in what a request is sent with: in its headers, and in the base URL's query and userinfo. */
export function secretsOf(headers: Readonly<Record<string, string>> = {}, baseUrl = ""): string[] {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  return [
    ...named(Object.entries(headers)).flatMap(headerSecrets),
    ...named([...(url?.searchParams ?? [])]),
    ...(url ? [url.password, decoded(url.password)] : []),
  ];
}

/** Whether a header or parameter of this name carries a credential; limits that are counted in tokens do not. */
export function looksLikeCredential(name: string): boolean {
  return /auth|key|token|secret|cookie|passw|credential|sig/i.test(name) && !/rate-?limit/i.test(name);
}

const REDACTED = "[redacted]";
/** Anything shorter is a stand-in for a key, and part of ordinary words. */
const MIN_SECRET_CHARACTERS = 4;

function named(entries: readonly (readonly [name: string, value: string])[]): string[] {
  return entries.flatMap(([name, value]) => (looksLikeCredential(name) ? [value.trim()] : []));
}

/** A value, that of each cookie in it, what follows its scheme, and of a Basic pair the user name only where it is alone. */
function headerSecrets(value: string): string[] {
  const [, scheme = "", token] = /^([\w-]+)\s+(\S.*)$/s.exec(value) ?? [];
  if (token === undefined) return [value, ...value.split(/;\s*/).map((pair) => pair.replace(/^[^=]*=?/, ""))];
  if (scheme.toLowerCase() !== "basic") return [value, token];
  const pair = Buffer.from(token, "base64").toString();
  const [user = "", ...password] = pair.split(":");
  return [value, token, pair, password.join(":") || user];
}

/** A secret as it is, inside JSON, with the slashes escaped too, inside JSON inside JSON, and as part of an address. */
function spellings(secret: string): string[] {
  const json = inJson(secret);
  return [
    secret,
    json,
    json.replaceAll("/", "\\/"),
    inJson(json),
    encodeURIComponent(secret.replace(/\p{Surrogate}/gu, "")),
  ];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
