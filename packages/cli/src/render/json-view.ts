import { type RunOutcome, toJsonLine } from "@rookery/core";
import type { OutputStream } from "../output-stream.ts";
import type { View } from "./view.ts";

/** Every message as one line, and nothing else. */
export function streamJsonView(stdout: OutputStream): View {
  return { show: (message) => stdout.write(toJsonLine(message)), end: () => undefined };
}

/** One object at the end. */
export function jsonView(
  stdout: OutputStream,
  session: { readonly sessionId: string; readonly traceFile: string },
): View {
  return {
    show: () => undefined,
    end(outcome) {
      const error = failure(outcome);
      const report = { ...outcome, session_id: session.sessionId, trace: session.traceFile, ...(error && { error }) };
      stdout.write(`${JSON.stringify(report)}\n`);
    },
  };
}

function failure({ status, code, message }: RunOutcome): { code: string; message: string } | undefined {
  return status === "completed" ? undefined : { code: code ?? status, message: message ?? `the run ended: ${status}` };
}
