import { FAILED, signalExitCodes } from "./exit-code.ts";
import type { Io } from "./io.ts";
import type { OutputStream } from "./output-stream.ts";
import { notice } from "./report-error.ts";

/** What may end a command from outside. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Of a command that ended for one of these, the time limit apart; absent while none has happened. */
  readonly exitCode: number | undefined;
  /** Gives the signals back, unless one came: what is left is the way out, on which another must not change the exit code. */
  stop(): void;
}

/**
 * Turns Ctrl-C, SIGTERM, SIGHUP, an output that breaks and a time limit into one abort. The first signal lets the command end cleanly, a second
 * one ends the program at once.
 *
 * @param timeoutMs - Absent: no limit. The limit aborts with a `TimeoutError`.
 */
export function watchInterruption(io: Io, stdout: OutputStream, timeoutMs?: number): Interruption {
  const controller = new AbortController();
  let exitCode: number | undefined;
  const listeners = Object.entries(signalExitCodes).map(([name, code]) => {
    const listener = (): void => {
      if (exitCode !== undefined) io.exit(code);
      exitCode = code;
      if (name === "SIGINT" && io.stderr.isTTY) {
        // Behind the ^C that the terminal shows.
        io.stderr.write("\n");
        notice(io, "stopping; press Ctrl-C again to leave at once");
      }
      controller.abort(new DOMException(`interrupted by ${name}`, "AbortError"));
    };
    io.signals.on(name, listener);
    return { name, listener };
  });
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => controller.abort(new DOMException("the time limit was reached", "TimeoutError")), timeoutMs);
  return {
    signal: AbortSignal.any([controller.signal, stdout.broken]),
    get exitCode() {
      return exitCode ?? (stdout.broken.aborted ? FAILED : undefined);
    },
    stop() {
      clearTimeout(timer);
      if (exitCode !== undefined) return;
      for (const { name, listener } of listeners) io.signals.off(name, listener);
    },
  };
}
