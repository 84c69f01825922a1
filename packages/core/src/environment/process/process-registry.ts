import { randomBytes } from "node:crypto";
import { errorText } from "../../errors/error-text.ts";
import type { CommandSessionManager, OnWarning } from "../contract.ts";
import type { Confine } from "../sandbox/settings.ts";
import { CommandSessions } from "./command-sessions.ts";
import { endProcessTree, GRACE_MS } from "./end-process-tree.ts";
import { OwnerFile } from "./owner-file.ts";
import { createMarker } from "./process-marker.ts";
import { type RunningProcess, type RunOptions, runProcess } from "./run-process.ts";
import { ShellAhead } from "./shell-ahead.ts";
import { pipedStart } from "./start-process.ts";

/**
 * Runs the processes of one session and ends them with it.
 *
 * All of them, and what they start, carry markers made from one owner. So `dispose()` also finds what left its process
 * group long ago. With an owner file the owner is on disk from the first process until `dispose()`, so that a session
 * that is opened again after a crash finds what the crashed one left running (`endLeftovers`).
 */
export class ProcessRegistry implements CommandSessionManager {
  readonly sessions: CommandSessions = new CommandSessions();
  readonly #owner: string;
  readonly #ownerFile: OwnerFile | undefined;
  readonly #onWarning: OnWarning | undefined;
  readonly #confine: Confine | undefined;
  readonly #ahead: ShellAhead = new ShellAhead(() => createMarker(this.#owner));
  readonly #running = new Set<RunningProcess>();
  /** Processes of this owner may be alive. */
  #mayHaveRun: boolean;
  #isDisposed = false;

  /**
   * @param options.ownerFile - A path in the session's own directory, which no other session uses.
   * @param options.confine - Puts every process into a sandbox.
   */
  constructor(
    options: {
      readonly ownerFile?: string;
      readonly onWarning?: OnWarning;
      readonly confine?: Confine | undefined;
    } = {},
  ) {
    this.#ownerFile = options.ownerFile === undefined ? undefined : new OwnerFile(options.ownerFile);
    this.#onWarning = options.onWarning;
    this.#confine = options.confine;
    const left = this.#ownerFile?.read();
    this.#owner = left ?? randomBytes(12).toString("hex");
    this.#mayHaveRun = left !== undefined;
  }

  /** `runProcess`; after `dispose()` nothing is started any more and the outcome is `aborted`. */
  run(options: RunOptions): RunningProcess {
    const signal = this.#isDisposed ? AbortSignal.abort() : options.signal;
    if (!this.#mayHaveRun && !this.#isDisposed) this.#recordOwner();
    const running = runProcess({
      ...options,
      ...(signal && { signal }),
      marker: createMarker(this.#owner),
      ...(this.#confine && { confine: this.#confine }),
      ahead: this.#ahead,
    });
    this.#running.add(running);
    void running.ended.then(() => {
      this.#running.delete(running);
      this.#prepareNext(options);
    });
    return running;
  }

  renewShell(): void {
    this.#ahead.renew();
  }

  #prepareNext(options: RunOptions): void {
    if (options.script === undefined || this.#confine || this.#isDisposed) return;
    this.#ahead.prepare(pipedStart(options));
  }

  /** Ends every process that carries a marker of this owner, whoever started it (Linux only). */
  async endLeftovers(): Promise<void> {
    if (this.#mayHaveRun) await endProcessTree({ marker: this.#owner }, GRACE_MS);
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await Promise.all([this.#ahead.dispose(), ...[...this.#running].map((running) => running.stop())]);
    await this.endLeftovers();
    this.#onDisk("removed", (file) => file.remove());
  }

  #recordOwner(): void {
    this.#mayHaveRun = true;
    this.#onDisk("written", (file) => file.write(this.#owner));
  }

  /** Without the file everything works but the search after a crash. */
  #onDisk(what: string, act: (file: OwnerFile) => void): void {
    if (this.#ownerFile === undefined) return;
    try {
      act(this.#ownerFile);
    } catch (error) {
      const message = `the file by which commands are found after a crash could not be ${what}: ${errorText(error)}`;
      this.#onWarning?.({ code: "processes-unrecorded", message });
    }
  }
}
