import { statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { endProcessTree, signalGroup } from "./end-process-tree.ts";
import { killAtExit } from "./exit-hook.ts";
import { withMarker } from "./process-marker.ts";
import { type PipedChild, type PipedStart, startPiped } from "./start-piped.ts";
import { startupFilesState } from "./startup-files.ts";

/** By then the result of a command is on its way to the model, and there is nothing else to do. */
const START_AFTER_MS = 2;
/** A shell that nobody has needed for so long is ended. */
const MAX_WAIT_MS = 120_000;
/** How long one that has been killed is waited for. */
const KILL_WAIT_MS = 1000;

/** A shell that runs and takes its script. */
export interface StartedShell {
  readonly child: PipedChild;
  /** What it carries. */
  readonly marker: string;
}

interface WaitingShell extends StartedShell {
  /** For what it was started, and what it found then. */
  readonly fingerprint: string;
  hasEnded: boolean;
  /** It waits no more. */
  release(): void;
}

/**
 * Starts the shell of the next command while the model thinks, so that the command does not wait for the user's profile.
 *
 * The shell is the one that would be started for the command: the same program, arguments, environment and directory. It
 * is given to a command only if none of these is another, and if bash's own startup files and the directory are what they
 * were; else it is ended. It is started anew after each command and each change that a tool makes, because these may change what a
 * profile finds.
 */
export class ShellAhead {
  readonly #createMarker: () => string;
  readonly #maxWaitMs: number;
  /** What waits, or is about to be started, is for this. */
  #wanted: PipedStart | undefined;
  #waiting: WaitingShell | undefined;
  #timer: NodeJS.Timeout | undefined;
  #starting: Promise<void> = Promise.resolve();

  /** @param maxWaitMs - A shell that was not needed for so long is ended. */
  constructor(createMarker: () => string, maxWaitMs: number = MAX_WAIT_MS) {
    this.#createMarker = createMarker;
    this.#maxWaitMs = maxWaitMs;
  }

  /** To be called when a command has ended: the next one will probably be started like this. */
  prepare(start: PipedStart): void {
    void this.drop();
    this.#wanted = start;
    this.#timer = setTimeout(() => {
      this.#starting = this.#starting.then(() => this.#start(start));
    }, START_AFTER_MS).unref();
  }

  /** To be called when something has changed that a profile may read: a shell that waits is started anew. */
  renew(): void {
    if (this.#wanted !== undefined) this.prepare(this.#wanted);
  }

  /** The shell for a command that is to be started like this, if one waits; from now on it is the caller's. */
  take(start: PipedStart): StartedShell | undefined {
    this.#forget();
    const waiting = this.#waiting;
    if (waiting === undefined) return undefined;
    if (waiting.hasEnded || waiting.fingerprint !== fingerprintOf(start)) {
      void this.drop();
      return undefined;
    }
    this.#waiting = undefined;
    waiting.release();
    waiting.child.holdHost(true);
    return waiting;
  }

  /** Ends the shell that waits, with what its profile has started, and starts none. */
  async drop(): Promise<void> {
    this.#forget();
    await this.#starting;
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    waiting.release();
    const { pid, exit, holdHost } = waiting.child;
    holdHost(true);
    await signalGroup(pid, "SIGKILL");
    // What hangs in the kernel may take for ever.
    await Promise.race([exit, pause(KILL_WAIT_MS, undefined, { ref: false })]);
    await endProcessTree({ pid }, 0);
  }

  #forget(): void {
    clearTimeout(this.#timer);
    this.#wanted = undefined;
  }

  async #start(start: PipedStart): Promise<void> {
    const fingerprint = fingerprintOf(start);
    if (fingerprint === undefined) return;
    const marker = this.#createMarker();
    const child = await startPiped({ ...start, env: withMarker(start.env, marker) }).catch(() => undefined);
    // The command itself will tell why nothing can be started.
    if (child === undefined) return;
    child.holdHost(false);
    const exitHook = killAtExit(child.pid, marker);
    const expiry = setTimeout(() => void this.drop(), this.#maxWaitMs).unref();
    const waiting: WaitingShell = {
      child,
      marker,
      fingerprint,
      hasEnded: false,
      release() {
        clearTimeout(expiry);
        exitHook.release();
      },
    };
    void child.exit.then(() => {
      waiting.hasEnded = true;
    });
    this.#waiting = waiting;
  }
}

/** Absent where the directory cannot be looked at. */
function fingerprintOf(start: PipedStart): string | undefined {
  try {
    const { dev, ino } = statSync(start.cwd);
    return JSON.stringify([start, dev, ino, startupFilesState(start.env)]);
  } catch {
    return undefined;
  }
}
