import { RookeryError } from "../errors/rookery-error.ts";
import { isContextOverflow } from "./context-overflow.ts";
import type { LLMOutcome } from "./contract.ts";
import { Interruption } from "./idle-timeout.ts";
import { type ProviderFailure, readProviderFailure } from "./provider-failure.ts";
import { BROKEN_REPLY } from "./providers/provider.ts";
import { redactSecrets } from "./redact-secrets.ts";

/** A stream that ended before the reply's end marker. */
export class BrokenReply extends Error {
  constructor() {
    super("the reply ended without its end marker");
  }
}

export interface FailureContext {
  readonly timeoutMs: number;
  /** Keys and the like, which no message may hold. */
  readonly secrets: readonly string[];
}

/**
 * The outcome of a request that did not complete (PC-015 to PC-017, PC-021 to PC-025).
 *
 * In this order: user abort, silence, a reply that cannot be read (`malformed`), too long an input (`overflow`), refused
 * credentials (`auth`), what the provider calls final (`permanent`), what passes with time (`timeout`), anything else
 * (`failed`). The message has the status and the provider's words, at most 2000 characters, and never a key.
 */
export function classifyFailure(error: unknown, context: FailureContext): LLMOutcome {
  if (error instanceof Interruption) {
    return error.status === "aborted"
      ? { status: "aborted" }
      : { status: "timeout", message: `the provider sent nothing for ${context.timeoutMs} ms` };
  }
  if (RookeryError.is(error)) return configFailure(error, context);
  const failure = readProviderFailure(error);
  const message = bounded(redactSecrets(messageOf(error, failure), context.secrets));
  const later = failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs };
  if (isUnreadable(error, failure)) return { status: "malformed", message };
  if (isContextOverflow(failure)) return { status: "failed", message, overflow: true };
  if (isAuth(failure)) return { status: "auth", message };
  if (isPermanent(failure)) return { status: "failed", message, permanent: true };
  if (isTransient(failure)) return { status: "timeout", message, ...later };
  return { status: "failed", message, ...later };
}

const MAX_MESSAGE_CHARACTERS = 2000;

function configFailure(error: RookeryError, { secrets }: FailureContext): LLMOutcome {
  const words = error.hint === undefined ? error.message : `${error.message}; ${error.hint}`;
  const message = bounded(redactSecrets(words, secrets));
  return error.code === "model-auth" ? { status: "auth", message } : { status: "failed", message, permanent: true };
}

function messageOf(error: unknown, failure: ProviderFailure): string {
  const named = failure.types.length === 0 ? "" : ` (${failure.types.join(", ")})`;
  const words = failure.words === "" ? "" : `: ${failure.words}`;
  if (error instanceof BrokenReply || failure.types.includes(BROKEN_REPLY)) return failure.words;
  if (failure.status !== undefined) return `the provider answered HTTP ${failure.status}${named}${words}`;
  if (failure.answered) return `the provider reported an error${named}${words}`;
  if (isUnreadable(error, failure)) return `the reply cannot be read${words}`;
  if (isNoTls(failure)) return `no https is spoken there${words}; is it http, or another port?`;
  if (failure.systemCodes.includes("ERR_TLS_CERT_ALTNAME_INVALID")) {
    return `the certificate of the server is for another name${words}; use that name in the base URL`;
  }
  if (failure.systemCodes.some((code) => UNTRUSTED.test(code))) {
    return `the certificate of the server is not trusted${words}; name a file with the right one in NODE_EXTRA_CA_CERTS`;
  }
  return failure.systemCodes.length > 0
    ? `the connection to the provider failed${words}`
    : `the request failed${words}`;
}

function bounded(message: string): string {
  if (message.length <= MAX_MESSAGE_CHARACTERS) return message;
  return `${message.slice(0, MAX_MESSAGE_CHARACTERS - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

function isUnreadable(error: unknown, failure: ProviderFailure): boolean {
  if (failure.types.includes(BROKEN_REPLY)) return true;
  if (failure.answered) return false;
  return error instanceof BrokenReply || failure.names.some((name) => UNREADABLE.has(name));
}

const UNREADABLE: ReadonlySet<string> = new Set([
  "SyntaxError",
  "AI_JSONParseError",
  "AI_TypeValidationError",
  "AI_InvalidResponseDataError",
  "AI_EmptyResponseBodyError",
]);

/** A 403 alone is not about the key: gateways and quotas answer so too. */
function isAuth({ status, types, names, words, answered }: ProviderFailure): boolean {
  if (status === 401 || types.some((type) => AUTH_TYPES.test(type))) return true;
  return (
    names.includes("AI_LoadAPIKeyError") || (answered && status !== undefined && status < 500 && AUTH_WORDS.test(words))
  );
}

/** Some answer HTTP 400 to a wrong key. */
const AUTH_WORDS = /\b(incorrect|invalid|wrong) api[ _-]key\b|\bapi[ _-]key (is )?(not valid|invalid|incorrect)\b/i;

const AUTH_TYPES =
  /^(invalid_api_key|authentication_?error|invalid_authentication(_error)?|unauthorized|unauthenticated)$/;

function isPermanent({ status, types, names, words, answered, systemCodes }: ProviderFailure): boolean {
  const isWrongPlace = REFUSED_PORT.test(words) || isNoTls({ words, systemCodes });
  if (!answered && (isWrongPlace || systemCodes.some((code) => UNTRUSTED.test(code)))) return true;
  if (answered && OUT_OF_CREDIT_WORDS.test(words)) return true;
  if (types.some((type) => OUT_OF_CREDIT.test(type)) || names.some((name) => UNSENDABLE.has(name))) return true;
  if (status !== undefined && PERMANENT_STATUSES.has(status)) return true;
  return status !== 429 && types.some((type) => PERMANENT_TYPES.test(type));
}

/** What answers an https request is no TLS; no other try will change that. */
function isNoTls({ words, systemCodes }: Pick<ProviderFailure, "words" | "systemCodes">): boolean {
  return (
    systemCodes.some((code) => NO_TLS_CODES.test(code)) && /wrong version number|packet length too long/i.test(words)
  );
}

const NO_TLS_CODES = /^(EPROTO|ERR_SSL_\w+)$/;
/** `fetch` connects to no port on the list of the Fetch standard. */
const REFUSED_PORT = /\bbad port$/;
/** What TLS says of a certificate that nobody here vouches for. */
const UNTRUSTED = /CERT|^UNABLE_TO_/;
const PERMANENT_STATUSES: ReadonlySet<number> = new Set([400, 402, 404, 413, 415, 422]);
const OUT_OF_CREDIT = /insufficient_(\w+_)?(quota|balance|credit|funds)|exceeded_current_quota|billing|credit_balance/;
const OUT_OF_CREDIT_WORDS =
  /insufficient (account )?(balance|credits?|funds)|credit balance is too low|(not|n't) have any credits/i;
const PERMANENT_TYPES =
  /invalid_(request|argument|prompt|image|base64)|image_|_image|(bio|cyber)_policy|bad_?request|not_?found|permission|forbidden|access_denied|unsupported|content_?(filter|policy)|safety|moderation|unprocessable|request_too_large/;
/** What the protocol's package refuses to write. */
const UNSENDABLE: ReadonlySet<string> = new Set([
  "AI_UnsupportedFunctionalityError",
  "AI_InvalidPromptError",
  "AI_InvalidArgumentError",
]);

function isTransient({ status, types, systemCodes, words, answered }: ProviderFailure): boolean {
  if (status !== undefined) return status === 408 || status === 429 || status >= 500;
  if (types.some((type) => TRANSIENT_TYPES.test(type))) return true;
  return !answered && (systemCodes.some((code) => TRANSPORT_CODES.test(code)) || TRANSPORT_WORDS.test(words));
}

const TRANSIENT_TYPES =
  /overload|rate_?limit|too_many|^requests$|^tokens$|server_?error|api_error|internal|unavailable|time_?d?_?out|capacity|exhausted/;
const TRANSPORT_CODES =
  /^(ECONN\w+|ETIMEDOUT|EPIPE|EAI_AGAIN|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|UND_ERR_\w+|ERR_SSL_\w+)$/;
const TRANSPORT_WORDS = /fetch failed|socket|connection|network|other side closed|hang up/i;
