import { isJsonObject, parseJson } from "./json-value.ts";

/** What can be known of a failure, whatever form it came in: a thrown error, an HTTP answer, an error inside a stream. */
export interface ProviderFailure {
  /** The HTTP status, of the answer or as the error itself names it; absent when there was no answer. */
  readonly status: number | undefined;
  /** The provider's own names for the error (`type`, `code`, `status`), in lower case. */
  readonly types: readonly string[];
  /** System codes of the connection (`ECONNRESET` …). */
  readonly systemCodes: readonly string[];
  /** Names of the errors in the chain of causes. */
  readonly names: readonly string[];
  /** What the provider said, else what the errors say; plain text. */
  readonly words: string;
  readonly retryAfterMs: number | undefined;
  /** The error came from the provider (an HTTP answer or an error event), not from the way to it. */
  readonly answered: boolean;
}

/** Gathers what a failure says about itself, through its causes, bodies and headers. */
export function readProviderFailure(error: unknown): ProviderFailure {
  const chain = causesOf(error);
  const httpStatus = first(chain, (link) => httpStatusOf(link.statusCode));
  const body = httpStatus === undefined ? undefined : first(chain, (link) => text(link.responseBody));
  const said = providerError(body === undefined ? eventOf(chain, error) : parseJson(body));
  const types = [said?.type, said?.code, said?.status].filter((name) => typeof name === "string");
  return {
    status: httpStatus ?? httpStatusOf(said?.code) ?? httpStatusOf(said?.status),
    types: types.map((name) => name.toLowerCase()).filter((name) => !/^\d+$/.test(name)),
    systemCodes: unique(
      chain.map((link) => text(link.code)).filter((code) => code !== undefined && SYSTEM_CODE.test(code)),
    ),
    names: unique(chain.map((link) => text(link.name))),
    words: said?.message ?? (body ? plainText(body) : wordsOf(chain, error)),
    retryAfterMs: first(chain, (link) =>
      isJsonObject(link.responseHeaders) ? retryAfter(link.responseHeaders) : undefined,
    ),
    answered: httpStatus !== undefined || said !== undefined,
  };
}

type Link = Readonly<Record<string, unknown>>;

/** The error and its causes, outermost first; each once. */
function causesOf(error: unknown): Link[] {
  const chain = new Set<Link>();
  let current = error;
  while (isJsonObject(current) && !chain.has(current)) {
    chain.add(current);
    current = current.cause ?? (Array.isArray(current.errors) ? current.errors[0] : undefined);
  }
  return [...chain];
}

interface Said {
  readonly message?: string;
  readonly type?: unknown;
  readonly code?: unknown;
  readonly status?: unknown;
}

/** The error in a body or event: `{ error: { message, type, code } }`, `{ error: "…" }`, `{ message }`, `{ detail }`, or a list of one. */
function providerError(value: unknown): Said | undefined {
  if (Array.isArray(value)) return providerError(value[0]);
  if (!isJsonObject(value)) return undefined;
  if (isJsonObject(value.error)) return providerError(value.error);
  const passedOn = upstreamError(value);
  if (passedOn) return passedOn;
  const message = text(value.message) ?? text(value.error) ?? text(value.detail);
  if (message === undefined && value.type === undefined && value.code === undefined) return undefined;
  return {
    type: value.type,
    code: numeric(value.code),
    status: numeric(value.status),
    ...(message !== undefined && { message }),
  };
}

/** What a gateway passes on from the provider behind it: `{ message, code, metadata: { raw } }`. */
function upstreamError({ message, code, metadata }: Readonly<Record<string, unknown>>): Said | undefined {
  const raw = isJsonObject(metadata) ? text(metadata.raw) : undefined;
  if (raw === undefined) return undefined;
  const said = providerError(parseJson(raw)) ?? { message: raw };
  return { code: numeric(code), ...said, message: [text(message), said.message].filter(Boolean).join(": ") };
}

/** An error event: the plain object a stream handed over, or the event inside a complaint about its shape. */
function eventOf(chain: readonly Link[], error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const value = first(chain, (link) => (isJsonObject(link.value) ? link.value : undefined));
  return value?.error === undefined ? undefined : value;
}

/** The title of a page, else the text without its tags. */
export function plainText(body: string): string {
  if (!/^\s*</.test(body)) return body.trim();
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(body)?.[1];
  return (title ?? body.replace(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>/gi, " ")).replace(/\s+/g, " ").trim();
}

/** What each error in the chain says, said once, with the connection's codes. */
function wordsOf(chain: readonly Link[], error: unknown): string {
  const said = unique(
    chain.flatMap((link) => [ownWords(link.message), text(link.code)]).map((word) => word || undefined),
  );
  const news = said.filter((word, i) => !said.some((other, k) => k < i && other.includes(word)));
  return news.join(": ") || (typeof error === "string" ? error : "unknown error");
}

/** Without what the provider's package writes around the words of a connection that failed. */
function ownWords(message: unknown): string | undefined {
  return text(message)?.replace(/^(Cannot connect to API: |Failed to process (successful|error) response$)/, "");
}

/** Milliseconds to wait by `retry-after-ms`, or by `retry-after` in seconds or as a date to come. */
function retryAfter(headers: Link): number | undefined {
  const ms = number(headers["retry-after-ms"]);
  if (ms !== undefined) return ms;
  const seconds = number(headers["retry-after"]);
  if (seconds !== undefined) return seconds * 1000;
  const wait = Date.parse(text(headers["retry-after"]) ?? "") - Date.now();
  return wait > 0 ? wait : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "string" && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}

/** A number that was written as text, as the number. */
function numeric(value: unknown): unknown {
  return typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
}

function httpStatusOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 400 && value < 600 ? value : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function first<T>(chain: readonly Link[], read: (link: Link) => T | undefined): T | undefined {
  for (const link of chain) {
    const found = read(link);
    if (found !== undefined) return found;
  }
  return undefined;
}

function unique(words: readonly (string | undefined)[]): string[] {
  return [...new Set(words.filter((word) => word !== undefined))];
}

const SYSTEM_CODE = /^(E[A-Z_]+|UND_ERR_\w+|ERR_\w+|[A-Z_]*CERT[A-Z_]*|UNABLE_TO_\w+)$/;
