/** Takes credentials out of a text that people and traces will see: the given ones, and what looks like one. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  const long = secrets.filter((secret) => secret.length >= MIN_SECRET_CHARACTERS);
  const written = new Set(long.flatMap(spellings));
  return withoutSpans(text, [...spansOf(written, text), ...escapedSpansOf(written, text)])
    .replace(/\b(Bearer)\s+[\w.~+/-]{8,}=*/gi, `$1 ${REDACTED}`)
    .replace(/([?&][\w.-]{0,40}(?:key|token|sig|signature|secret|password)=)[^&\s"'[]+/gi, `$1${REDACTED}`)
    .replace(/\b(https?|ftp):\/\/[^\s/"']+@/gi, `$1://${REDACTED}@`);
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

/** A part of a text, without the character at `end`. */
interface Span {
  readonly start: number;
  readonly end: number;
}

function spansOf(secrets: Iterable<string>, text: string): Span[] {
  const spans: Span[] = [];
  for (const secret of secrets) {
    for (let start = text.indexOf(secret); start >= 0; start = text.indexOf(secret, start + 1)) {
      spans.push({ start, end: start + secret.length });
    }
  }
  return spans;
}

/** Where secrets are of which any characters are written as `\u002b` or `%2b`, in digits of either case. */
function escapedSpansOf(secrets: Iterable<string>, text: string): Span[] {
  const pieces = text.split(ESCAPE);
  if (pieces.length === 1) return [];
  let plain = "";
  let at = 0;
  /** Where in the text each unit of the plain one is. */
  const places: number[] = [];
  for (const [i, piece] of pieces.entries()) {
    const isEscape = i % 2 === 1;
    const units = isEscape ? String.fromCharCode(Number.parseInt(piece.replace(/^\W+u?/i, ""), 16)) : piece;
    for (let unit = 0; unit < units.length; unit++) places.push(at + unit);
    plain += units;
    at += piece.length;
  }
  const place = (index: number): number => places[index] ?? at;
  return spansOf(secrets, plain).map(({ start, end }) => ({ start: place(start), end: place(end) }));
}

/** In JSON any character, in JSON inside JSON too; in an address one of ASCII. */
const ESCAPE = /(\\{1,4}u[\da-f]{4}|%[2-7][\da-f])/i;

/** Spans that overlap are taken out as one. */
function withoutSpans(text: string, spans: readonly Span[]): string {
  let redacted = "";
  let hiddenTo = 0;
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    if (start >= hiddenTo) redacted += text.slice(hiddenTo, start) + REDACTED;
    hiddenTo = Math.max(hiddenTo, end);
  }
  return redacted + text.slice(hiddenTo);
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
