import type { RunOutcome } from "@rookery/core";
import type { OutputStream } from "../output-stream.ts";
import { jsonLine } from "./json-line.ts";
import type { View } from "./view.ts";

/** Every message as one line, and nothing else. */
export function streamJsonView(stdout: OutputStream): View {
  return { show: (message) => stdout.write(jsonLine(message)), end: () => undefined };
}

/** One object at the end. */
export function jsonView(
  stdout: OutputStream,
  session: { readonly sessionId: string; readonly traceFile: string },
): View {
  return {
    show: () => undefined,
    end(outcome, hint) {
      const error = failure(outcome, hint);
      const report = { ...outcome, session_id: session.sessionId, trace: session.traceFile, ...(error && { error }) };
      stdout.write(jsonLine(report));
    },
  };
}

function failure(
  { status, code, message = `the run ended: ${status}` }: RunOutcome,
  hint: string | undefined,
): { code: string; message: string; hint?: string } | undefined {
  return status === "completed" ? undefined : { code: code ?? status, message, ...(hint !== undefined && { hint }) };
}
