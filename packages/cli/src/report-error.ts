import { type ErrorCode, RookeryError } from "@rookery/core";
import { errorExitCode, FAILED } from "./exit-code.ts";
import type { Io } from "./io.ts";
import { oneLine } from "./render/neutralise.ts";

/** An error as `--output json` shows it. */
export interface ErrorReport {
  readonly code: ErrorCode | "unexpected";
  readonly message: string;
  readonly hint?: string;
}

/** Tells a person of an error in one line on standard error, never with a stack trace. @returns The exit code. */
export function reportError(error: unknown, io: Pick<Io, "stderr">): number {
  const { message, hint } = errorReport(error);
  notice(io, hint === undefined ? message : `${message}; ${hint}`);
  return exitCodeOf(error);
}

/** Takes an error apart for a program that reads it. */
export function errorReport(error: unknown): ErrorReport {
  if (!RookeryError.is(error)) {
    const message = error instanceof Error ? error.message || error.name : String(error);
    return { code: "unexpected", message: `unexpected error: ${message}` };
  }
  return { code: error.code, message: error.message, ...(error.hint !== undefined && { hint: error.hint }) };
}

export function exitCodeOf(error: unknown): number {
  return RookeryError.is(error) ? errorExitCode(error.code) : FAILED;
}

/** One line for a person, on standard error. */
export function notice(io: Pick<Io, "stderr">, message: string): void {
  io.stderr.write(`rookery: ${oneLine(message)}\n`);
}

/** Shows the core's warnings the same way. */
export function warningNotice(io: Pick<Io, "stderr">): (warning: { readonly message: string }) => void {
  return ({ message }) => notice(io, `warning: ${message}`);
}
