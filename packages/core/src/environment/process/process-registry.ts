import { randomBytes } from "node:crypto";
import type { CommandSessionManager } from "../contract.ts";
import { endProcessTree, GRACE_MS } from "./end-process-tree.ts";
import { createMarker } from "./process-marker.ts";
import { type ProcessOptions, type RunningProcess, runProcess } from "./run-process.ts";

/**
 * Runs the processes of one session and ends them with it.
 *
 * All of them, and what they start, carry markers made from one owner. So `dispose()` also finds what left its process
 * group long ago, and a session that is opened again after a crash finds what the crashed one left running, if it gives
 * the same owner (`endLeftovers`).
 */
export class ProcessRegistry implements CommandSessionManager {
  readonly #owner: string;
  readonly #running = new Set<RunningProcess>();
  #hasRun = false;
  #isDisposed = false;

  /** @param owner - Letters and digits that no other session uses; default random. */
  constructor(owner: string = randomBytes(12).toString("hex")) {
    this.#owner = owner;
  }

  /** `runProcess`; after `dispose()` nothing is started any more and the outcome is `aborted`. */
  run(options: Omit<ProcessOptions, "marker">): RunningProcess {
    const signal = this.#isDisposed ? AbortSignal.abort() : options.signal;
    const running = runProcess({ ...options, ...(signal && { signal }), marker: createMarker(this.#owner) });
    this.#hasRun = true;
    this.#running.add(running);
    void running.ended.then(() => this.#running.delete(running));
    return running;
  }

  /** Ends every process that carries a marker of this owner, whoever started it (Linux only). */
  async endLeftovers(): Promise<void> {
    await endProcessTree({ marker: this.#owner }, GRACE_MS);
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await Promise.all([...this.#running].map((running) => running.stop()));
    if (this.#hasRun) await this.endLeftovers();
  }
}
