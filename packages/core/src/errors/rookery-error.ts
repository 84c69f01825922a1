/** What went wrong, in a form programs can switch on. A released code is never renamed or reused. */
export type ErrorCode =
  | "usage"
  | "config-invalid"
  | "model-missing"
  | "model-unknown"
  | "model-auth"
  | "root-unwritable"
  | "workspace-missing"
  | "sandbox-unavailable"
  | "agent-closed"
  | "session-busy"
  | "session-closed"
  | "session-auth"
  | "session-locked"
  | "session-not-found"
  | "session-exists"
  | "input-empty"
  | "input-too-large"
  | "tool-unknown"
  | "tool-duplicate"
  | "trace-corrupt";

/** Every error this SDK throws on purpose. Switch on `code`; `message` is for people and may change. */
export class RookeryError extends Error {
  readonly code: ErrorCode;
  /** What the reader can do about it, as one imperative sentence. */
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "RookeryError";
    this.code = code;
    this.hint = options.hint;
  }

  /** True across duplicate copies of this package in one process, where `instanceof` is not. */
  static is(error: unknown): error is RookeryError {
    return error instanceof Error && error.name === "RookeryError";
  }
}
