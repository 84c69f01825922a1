import { accessSync, constants, statSync } from "node:fs";
import { errorCode, errorText } from "../../errors/error-text.ts";
import type { Confine } from "../sandbox/settings.ts";
import type { ChildConnection, ChildExit, ChildStart, ProcessInput } from "./child-connection.ts";
import { confinedExit } from "./confined-exit.ts";
import type { ProcessChunk } from "./decode-output.ts";
import { endProcessTree, GRACE_MS, signalGroup } from "./end-process-tree.ts";
import { killAtExit } from "./exit-hook.ts";
import { createMarker, PROCESS_MARKER } from "./process-marker.ts";
import { PipeReader } from "./read-pipes.ts";
import { redactVault } from "./redact-vault.ts";
import { startPiped } from "./start-piped.ts";

/**
 * `file` is a path, or a name that is looked up on the `PATH` of `env`; `cwd` is absolute; to `env`, which is the whole
 * environment, the marker is added.
 */
export interface ProcessOptions extends ChildStart {
  /** Where its input comes from: nowhere (default), `write` through a pipe, or `write` at a pseudo-terminal. */
  readonly input?: "none" | "pipe" | "terminal";
  /** Ends the process: at once if its reason is a `TimeoutError`, else with a grace of two seconds. */
  readonly signal?: AbortSignal;
  /** Counted from the start; absent: none. At the deadline the process is killed. */
  readonly deadlineMs?: number;
  /** Values of eight characters or more are replaced by `[vault:NAME]` in everything that is reported. */
  readonly vault?: Readonly<Record<string, string>>;
  /** By what processes that left the group are found; absent: a new one. */
  readonly marker?: string;
  /** Makes of the command line one that runs it in a sandbox. */
  readonly confine?: Confine;
}

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
  /** What Ctrl-C does: SIGINT to its process group; where there is none (Windows) the whole tree is ended (PT-108). */
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
 * While more than a million characters wait to be read, the program has to wait, too.
 */
export function runProcess(options: ProcessOptions): RunningProcess {
  const stop = new AbortController();
  const pipes = new PipeReader(options.vault);
  const marker = options.marker ?? createMarker();
  const release = stopOn(options, stop);
  const child = start(options, marker, stop.signal);
  const ended = run(child, options, pipes, marker, stop.signal).finally(release);
  return {
    output: pipes.output,
    started: child.then(
      (connection) => connection?.input,
      () => undefined,
    ),
    ended,
    async interrupt() {
      const connection = await child.catch(() => undefined);
      if (connection !== undefined) await signalGroup(connection.pid, "SIGINT");
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

/** Resolves to nothing when it was stopped before. @throws when the process cannot be started. */
async function start(
  { file: program, args: given, cwd, env: variables, input = "none", confine }: ProcessOptions,
  marker: string,
  stop: AbortSignal,
): Promise<ChildConnection | undefined> {
  checkDirectory(cwd);
  if (stop.aborted) return undefined;
  const env = { ...variables, [PROCESS_MARKER]: marker };
  const command = [program, ...given];
  const [file = program, ...args] = confine?.(command, { cwd, env }) ?? command;
  const child = { file, args, cwd, env };
  if (input !== "terminal") return await startPiped(child, { hasInput: input === "pipe" });
  const { startInTerminal } = await import("./start-in-terminal.ts");
  return await startInTerminal(child);
}

async function run(
  child: Promise<ChildConnection | undefined>,
  { file, vault, confine }: ProcessOptions,
  pipes: PipeReader,
  marker: string,
  stop: AbortSignal,
): Promise<ProcessEnd> {
  const startedAt = performance.now();
  const end = await child
    .then((connection) => waitFor(connection, pipes, marker, stop))
    .catch((error: unknown): Ending => {
      const text = redactVault(startProblem(error, file), vault);
      return { outcome: "failed-to-start", exitCode: null, signal: null, error: text };
    });
  pipes.close();
  return { ...end, ...(confine && confinedExit(end)), durationMs: Math.round(performance.now() - startedAt) };
}

type Ending = Omit<ProcessEnd, "durationMs">;

async function waitFor(
  child: ChildConnection | undefined,
  pipes: PipeReader,
  marker: string,
  stop: AbortSignal,
): Promise<Ending> {
  if (child === undefined) return { outcome: stopOutcome(stop), exitCode: null, signal: null };
  const { pid, exit } = child;
  const exitHook = killAtExit(pid, marker);
  pipes.start(child);
  const isStopped = await Promise.race([exit.then(() => false), whenAborted(stop)]);
  if (isStopped) await endProcessTree({ pid, marker }, stopOutcome(stop) === "timed-out" ? 0 : GRACE_MS);
  const status = await exit;
  await pipes.drain();
  await endProcessTree({ pid }, 0);
  exitHook.release();
  return { outcome: isStopped ? stopOutcome(stop) : "exited", ...status };
}

/** A missing directory must be found beforehand: `spawn` would report the program as missing. */
function checkDirectory(path: string): void {
  const problem = directoryProblem(path);
  if (problem !== undefined) throw new CannotRun(`cannot run in ${path}: ${problem}`);
}

class CannotRun extends Error {}

function directoryProblem(path: string): string | undefined {
  try {
    if (!statSync(path).isDirectory()) return NOT_A_DIRECTORY;
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return "the directory does not exist; create it or name another";
    return code === "ENOTDIR" ? NOT_A_DIRECTORY : `the directory cannot be entered (${code ?? errorText(error)})`;
  }
}

const NOT_A_DIRECTORY = "it is not a directory; name one that is";

function stopOutcome(stop: AbortSignal): "timed-out" | "aborted" {
  return stop.reason instanceof Error && stop.reason.name === "TimeoutError" ? "timed-out" : "aborted";
}

function whenAborted(signal: AbortSignal): Promise<true> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(true);
    signal.addEventListener("abort", () => resolve(true), { once: true });
  });
}

function startProblem(error: unknown, file: string): string {
  if (error instanceof CannotRun) return error.message;
  const code = errorCode(error);
  if (code === "ENOENT") return `cannot start ${file}: there is no such program`;
  // The answer, too, where the search path has a directory that may not be looked into.
  if (code === "EACCES") return `cannot start ${file}: there is no such program that may be run`;
  if (code === "E2BIG") return `cannot start ${file}: arguments and environment are too long; pass long text in a file`;
  return `cannot start ${file}: ${errorText(error)}`;
}
