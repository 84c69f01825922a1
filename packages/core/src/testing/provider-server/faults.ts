/** What a provider refuses a request for. Status, words and shape are those of the protocol. */
export type ProviderErrorKind =
  | "credentials"
  | "rate-limit"
  | "overloaded"
  | "server-error"
  | "context-overflow"
  | "unknown-model"
  | "content-refusal"
  | "invalid-request"
  | "out-of-credit";

/** An HTTP answer in place of a stream. Google refuses content with a stream that holds nothing but the refusal. */
export interface HttpErrorFault {
  readonly kind: "http-error";
  readonly error: ProviderErrorKind;
  /** In place of the protocol's usual words. */
  readonly message?: string;
  /** Seconds, or a date, which is sent with a precision of one second; sent as `retry-after`. */
  readonly retryAfter?: number | Date;
}

/** The connection is reset: before the headers, or after so many events. */
export interface ResetFault {
  readonly kind: "reset";
  readonly afterEvents?: number;
}

/** The stream ends as if all were well; default: before the events that finish the reply. */
export interface EarlyEndFault {
  readonly kind: "early-end";
  readonly afterEvents?: number;
}

/** The stream ends with an error of the protocol; default: in place of the events that finish the reply. */
export interface ErrorEventFault {
  readonly kind: "error-event";
  readonly error: ProviderErrorKind;
  readonly message?: string;
  readonly afterEvents?: number;
}

/** One event holds only the first half of its JSON; the rest of the stream is as it should be. */
export interface BadJsonFault {
  readonly kind: "bad-json";
  /** Counted from 0; default, and the furthest: the last one before those that finish the reply. */
  readonly atEvent?: number;
}

/** Nothing more comes until the client leaves; default: from the events on that finish the reply. */
export interface SilenceFault {
  readonly kind: "silence";
  readonly afterEvents?: number;
}

/** In place of the events that finish the reply come comments without end, so that only the client can bring one about. */
export interface IgnoresAbortFault {
  readonly kind: "ignores-abort";
}

/** The reply is whole, and its bytes are written in pieces of this size. */
export interface ByteChunksFault {
  readonly kind: "byte-chunks";
  readonly bytes: number;
}

/** The reply is whole, and a write ends inside each character that takes more than one byte. */
export interface SplitCharactersFault {
  readonly kind: "split-characters";
}

/** The reply is whole, and its lines end in CR LF. */
export interface CrlfFault {
  readonly kind: "crlf";
}

/** The reply is whole, with a comment before each event. */
export interface HeartbeatsFault {
  readonly kind: "heartbeats";
}

/** The reply is whole. The ids of its calls are missing, all that of the first call, or the names of the tools, at each call again. */
export interface CallIdsFault {
  readonly kind: "call-ids";
  readonly ids: "missing" | "duplicate" | "reused";
}

/** The reply is whole, and arguments come one character a delta. Google has no deltas of arguments. */
export interface SplitArgumentsFault {
  readonly kind: "split-arguments";
}

/** What goes wrong, or is unusual, with one reply. */
export type ProviderFault =
  | HttpErrorFault
  | ResetFault
  | EarlyEndFault
  | ErrorEventFault
  | BadJsonFault
  | SilenceFault
  | IgnoresAbortFault
  | ByteChunksFault
  | SplitCharactersFault
  | CrlfFault
  | HeartbeatsFault
  | CallIdsFault
  | SplitArgumentsFault;

export const FAULT_KINDS: readonly ProviderFault["kind"][] = [
  "http-error",
  "reset",
  "early-end",
  "error-event",
  "bad-json",
  "silence",
  "ignores-abort",
  "byte-chunks",
  "split-characters",
  "crlf",
  "heartbeats",
  "call-ids",
  "split-arguments",
];
