import type { ProviderErrorKind } from "./faults.ts";
import type { WireFailure } from "./wire-protocol.ts";

/** The errors of OpenAI's two protocols. */
export function openaiFailure(error: ProviderErrorKind, model: string, message: string | undefined): WireFailure {
  const { status, type, code, words } = ERRORS[error];
  return { status, body: { error: { message: message ?? words(model), type, param: null, code } } };
}

interface OpenaiError {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  words(model: string): string;
}

const INVALID = "invalid_request_error";

const ERRORS: Readonly<Record<ProviderErrorKind, OpenaiError>> = {
  credentials: { status: 401, type: INVALID, code: "invalid_api_key", words: () => "Incorrect API key provided." },
  "rate-limit": {
    status: 429,
    type: "requests",
    code: "rate_limit_exceeded",
    words: (model) => `Rate limit reached for ${model} on requests per min.`,
  },
  overloaded: {
    status: 503,
    type: "service_unavailable_error",
    code: "server_is_overloaded",
    words: () => "Our servers are currently overloaded. Please try again later.",
  },
  "server-error": {
    status: 500,
    type: "server_error",
    code: "server_error",
    words: () => "The server had an error while processing your request.",
  },
  "context-overflow": {
    status: 400,
    type: INVALID,
    code: "context_length_exceeded",
    words: () => "Your input exceeds the context window of this model.",
  },
  "unknown-model": {
    status: 404,
    type: INVALID,
    code: "model_not_found",
    words: (model) => `The model \`${model}\` does not exist or you do not have access to it.`,
  },
  "content-refusal": {
    status: 400,
    type: INVALID,
    code: "content_policy_violation",
    words: () => "Your request was rejected by our safety system.",
  },
  "invalid-request": { status: 400, type: INVALID, code: null, words: () => "Invalid value in the request." },
  "out-of-credit": {
    status: 429,
    type: "insufficient_quota",
    code: "insufficient_quota",
    words: () => "You exceeded your current quota, please check your plan and billing details.",
  },
};
