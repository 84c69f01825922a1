import type { ChildExit, ProcessInput } from "./child-connection.ts";
import { confinedExit } from "./confined-exit.ts";
import type { ProcessChunk } from "./decode-output.ts";
import { endProcessTree, GRACE_MS, interruptSession } from "./end-process-tree.ts";
import { killAtExit } from "./exit-hook.ts";
import { createMarker } from "./process-marker.ts";
import { PipeReader } from "./read-pipes.ts";
import { redactVault } from "./redact-vault.ts";
import { type StartedProcess, type StartOptions, startProblem, startProcess } from "./start-process.ts";

/** To `env`, which is the whole environment, the marker is added. */
export interface ProcessOptions extends StartOptions {
  /** Ends the process: at once if its reason is a `TimeoutError`, else with a grace of two seconds. */
  readonly signal?: AbortSignal;
  /** Counted from the start; absent: none. At the deadline the process is killed. */
  readonly deadlineMs?: number;
  /** Values of eight characters or more are replaced by `[vault:NAME]` in everything that is reported. */
  readonly vault?: Readonly<Record<string, string>>;
  /** By what processes that left the group are found; absent: a new one. A shell that was started ahead has its own. */
  readonly marker?: string;
}

/** What is for the caller of a session's processes to say; the rest is the session's. */
export type RunOptions = Omit<ProcessOptions, "marker" | "confine" | "ahead">;

/** How a process ended; the exit code is `null` also when it never ran. */
export interface ProcessEnd extends ChildExit {
  readonly outcome: "exited" | "aborted" | "timed-out" | "failed-to-start";
  readonly durationMs: number;
  /** Why it could not be started; present with `failed-to-start` only. */
  readonly error?: string;
}

export interface RunningProcess {
  /** What it prints, merged by arrival; for one reader. It ends before `ended` resolves. */
  readonly output: AsyncIterableIterator<ProcessChunk>;
  /** Resolves when it runs, to its input; to `undefined` when it could not be started. Never rejects. */
  readonly started: Promise<ProcessInput | undefined>;
  /** Resolves when the process and what is left of its group have ended; never rejects. Needs no reader of `output`. */
  readonly ended: Promise<ProcessEnd>;
  /** What Ctrl-C does: SIGINT to its process groups; where there are none (Windows) the whole tree is ended (PT-108). */
  interrupt(): Promise<void>;
  /** Ends it as an abort of the signal with this reason does. */
  stop(reason?: unknown): Promise<ProcessEnd>;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs a program in a process group and a session of its own, without a controlling terminal unless it is asked for
 * (PE-027).
 *
 * It is done when the program itself exits, not when its pipes close. What it left in the pipes is read within a bound,
 * then whatever remains of its group is killed (PE-032, PE-033). An abort sends TERM to the group and to marked
 * processes that left it, and KILL two seconds later to what is left (PE-028 to PE-030); the deadline sends KILL at once
 * (PE-031). Descendants that left the group survive a program that ends by itself.
 *
 * While more than four MiB wait to be read, the program has to wait, too.
 */
export function runProcess(options: ProcessOptions): RunningProcess {
  const stop = new AbortController();
  const pipes = new PipeReader(options.vault);
  const release = stopOn(options, stop);
  const starting = start(options, stop.signal);
  const ended = run(starting, options, pipes, stop.signal).finally(release);
  const connection = starting.then(
    (started) => started?.connection,
    () => undefined,
  );
  return {
    output: pipes.output,
    started: connection.then((child) => child?.input),
    ended,
    async interrupt() {
      const child = await connection;
      if (child !== undefined) await interruptSession(child.pid);
    },
    stop(reason) {
      stop.abort(reason);
      return ended;
    },
  };
}

/** Lets the caller's signal and the deadline abort `stop`; returns what takes this back. */
function stopOn({ signal, deadlineMs }: ProcessOptions, stop: AbortController): () => void {
  const onAbort = (): void => stop.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort);
  const onDeadline = (): void => stop.abort(new DOMException("the deadline was reached", "TimeoutError"));
  const timer = deadlineMs === undefined ? undefined : setTimeout(onDeadline, Math.min(deadlineMs, MAX_TIMER_MS));
  return () => {
    signal?.removeEventListener("abort", onAbort);
    clearTimeout(timer);
  };
}

/** Resolves to nothing when it was stopped before. */
async function start(options: ProcessOptions, stop: AbortSignal): Promise<StartedProcess | undefined> {
  return stop.aborted ? undefined : await startProcess(options, options.marker ?? createMarker());
}

async function run(
  starting: Promise<StartedProcess | undefined>,
  { file, vault, confine }: ProcessOptions,
  pipes: PipeReader,
  stop: AbortSignal,
): Promise<ProcessEnd> {
  const startedAt = performance.now();
  const end = await starting
    .then((started) => waitFor(started, pipes, stop))
    .catch((error: unknown): Ending => {
      const text = redactVault(startProblem(error, file), vault);
      return { outcome: "failed-to-start", exitCode: null, signal: null, error: text };
    });
  pipes.close();
  return { ...end, ...(confine && confinedExit(end)), durationMs: Math.round(performance.now() - startedAt) };
}

type Ending = Omit<ProcessEnd, "durationMs">;

async function waitFor(started: StartedProcess | undefined, pipes: PipeReader, stop: AbortSignal): Promise<Ending> {
  if (started === undefined) return { outcome: stopOutcome(stop), exitCode: null, signal: null };
  const { connection, marker } = started;
  const { pid, exit } = connection;
  const exitHook = killAtExit(pid, marker);
  pipes.start(connection);
  const isStopped = await Promise.race([exit.then(() => false), whenAborted(stop)]);
  if (isStopped) await endProcessTree({ pid, marker }, stopOutcome(stop) === "timed-out" ? 0 : GRACE_MS);
  const status = await exit;
  await pipes.drain();
  await endProcessTree({ pid }, 0);
  exitHook.release();
  return { outcome: isStopped ? stopOutcome(stop) : "exited", ...status };
}

function stopOutcome(stop: AbortSignal): "timed-out" | "aborted" {
  return stop.reason instanceof Error && stop.reason.name === "TimeoutError" ? "timed-out" : "aborted";
}

function whenAborted(signal: AbortSignal): Promise<true> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(true);
    signal.addEventListener("abort", () => resolve(true), { once: true });
  });
}
