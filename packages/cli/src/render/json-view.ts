import type { RunOutcome } from "@rookery/core";
import type { Io } from "../io.ts";
import type { OutputStream } from "../output-stream.ts";
import { jsonLine } from "./json-line.ts";
import { retryLine } from "./retry-line.ts";
import type { View } from "./view.ts";

/** Every message as one line, and nothing else. */
export function streamJsonView(stdout: OutputStream): View {
  return { show: (message) => stdout.write(jsonLine(message)), end: () => undefined };
}

/** One object at the end; with `io` an attempt that is repeated is a line on standard error, when it is. */
export function jsonView(
  stdout: OutputStream,
  session: { readonly sessionId: string; readonly traceFile: string },
  io?: Io,
): View {
  return {
    show(message) {
      const retry = io && retryLine(message, io);
      if (retry !== undefined) io?.stderr.write(`${retry}\n`);
      return undefined;
    },
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
