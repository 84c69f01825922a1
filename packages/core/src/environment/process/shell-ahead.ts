import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { GRACE_MS, KILL_WAIT_MS } from "./end-process-tree.ts";
import { withMarker } from "./process-marker.ts";
import { type PipedStart, startPiped } from "./start-piped.ts";
import { startupFilesState } from "./startup-files.ts";
import { WaitingShell } from "./waiting-shell.ts";

/** By then the result of a command is on its way to the model, and there is nothing else to do. */
const START_AFTER_MS = 2;
/** A shell that nobody has needed for so long is ended. */
const MAX_WAIT_MS = 120_000;
/** What one that is not needed has to read its profile to the end. */
const PROFILE_MS = 10_000;

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
  #timer: NodeJS.Timeout | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #starting: Promise<void> = Promise.resolve();
  /** The one that waits, and for what it was started and what it found then. */
  #waiting: { readonly shell: WaitingShell; readonly fingerprint: string } | undefined;
  /** Those that are not needed and have not ended. */
  readonly #ending = new Set<WaitingShell>();

  /** @param maxWaitMs - A shell that was not needed for so long is ended. */
  constructor(createMarker: () => string, maxWaitMs: number = MAX_WAIT_MS) {
    this.#createMarker = createMarker;
    this.#maxWaitMs = maxWaitMs;
  }

  /** To be called when a command has ended: the next one will probably be started like this. */
  prepare(start: PipedStart): void {
    this.#end(this.#detach()?.shell);
    this.#wanted = start;
    this.#timer = setTimeout(() => {
      this.#starting = this.#starting.then(() => this.#start(start));
    }, START_AFTER_MS).unref();
  }

  /** To be called when something has changed that a profile may read: a shell that waits is started anew. */
  renew(): void {
    if (this.#wanted !== undefined) this.prepare({ ...this.#wanted });
  }

  /** The shell for a command that is to be started like this, if one waits; from now on it is the caller's. */
  take(start: PipedStart): WaitingShell | undefined {
    const waiting = this.#detach();
    if (waiting === undefined) return undefined;
    const { shell, fingerprint } = waiting;
    if (shell.hasEnded || fingerprint !== fingerprintOf(start)) {
      this.#end(shell);
      return undefined;
    }
    shell.take();
    return shell;
  }

  /** Starts none any more, and ends those that there are. */
  async dispose(): Promise<void> {
    this.#end(this.#detach()?.shell);
    await this.#starting;
    this.#end(this.#detach()?.shell);
    const shells = [...this.#ending];
    for (const { child } of shells) child.holdHost(true);
    const ended = Promise.all(shells.map((shell) => shell.ended)).then(() => true);
    if (await Promise.race([ended, pause(GRACE_MS, false, { ref: false })])) return;
    for (const shell of shells) shell.kill();
    await Promise.race([ended, pause(KILL_WAIT_MS, false, { ref: false })]);
  }

  /** None waits any more, and none is about to be started. */
  #detach(): { readonly shell: WaitingShell; readonly fingerprint: string } | undefined {
    clearTimeout(this.#timer);
    clearTimeout(this.#expiry);
    this.#wanted = undefined;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }

  #end(shell: WaitingShell | undefined): void {
    if (shell === undefined || shell.hasEnded) return;
    this.#ending.add(shell);
    void shell.ended.then(() => this.#ending.delete(shell));
    shell.end(PROFILE_MS);
  }

  /** @param start - Compared by identity with what is wanted when the time has come. */
  async #start(start: PipedStart): Promise<void> {
    // Shells that read the profile side by side would be in each other's way.
    await Promise.all([...this.#ending].map((shell) => shell.ended));
    const fingerprint = fingerprintOf(start);
    if (fingerprint === undefined || this.#wanted !== start) return;
    const marker = this.#createMarker();
    const child = await startPiped({ ...start, env: withMarker(start.env, marker) }).catch(() => undefined);
    // The command itself will tell why nothing can be started.
    if (child === undefined) return;
    const shell = new WaitingShell(child, marker);
    if (this.#wanted !== start) return this.#end(shell);
    this.#waiting = { shell, fingerprint };
    this.#expiry = setTimeout(() => this.#end(this.#detach()?.shell), this.#maxWaitMs).unref();
  }
}

/** Absent where it cannot be known: the directory cannot be looked at, or the shell makes a path of `BASH_ENV` in its own way. */
function fingerprintOf(start: PipedStart): string | undefined {
  const { BASH_ENV = "" } = start.env;
  if (BASH_ENV !== "" && !isAbsolute(BASH_ENV)) return undefined;
  try {
    const { dev, ino } = statSync(start.cwd);
    return JSON.stringify([start, dev, ino, startupFilesState(start.env)]);
  } catch {
    return undefined;
  }
}
