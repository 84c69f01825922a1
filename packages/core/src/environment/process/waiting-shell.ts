import { endProcessTree, signalGroup } from "./end-process-tree.ts";
import { killAtExit } from "./exit-hook.ts";
import type { PipedChild } from "./start-piped.ts";

/** A shell that has read its profile, or is about to, and was given no script yet. It does not keep this process alive. */
export class WaitingShell {
  readonly child: PipedChild;
  /** By what the processes that leave its group are found. */
  readonly marker: string;
  /** Resolves when it and its group have ended; never where it was taken. */
  readonly ended: Promise<void>;
  readonly #exitHook: { release(): void };
  #hasEnded = false;
  #isTaken = false;

  constructor(child: PipedChild, marker: string) {
    this.child = child;
    this.marker = marker;
    this.#exitHook = killAtExit(child.pid, marker);
    this.ended = new Promise((resolve) => {
      void child.exit.then(async () => {
        this.#hasEnded = true;
        if (!this.#isTaken) resolve(await this.#cleanUp());
      });
    });
    child.holdHost(false);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** From now on it is the caller's. */
  take(): void {
    this.#isTaken = true;
    this.#exitHook.release();
    this.child.holdHost(true);
  }

  /**
   * It reads its profile to the end, because a profile that is killed can leave locks and half of a file behind, and ends then by
   * itself; what takes longer is killed.
   */
  end(graceMs: number): void {
    this.child.giveScript(undefined);
    // It would wait for somebody who reads what the profile prints.
    for (const { from } of this.child.outputs) from.resume();
    const timer = setTimeout(() => this.kill(), graceMs).unref();
    void this.ended.then(() => clearTimeout(timer));
  }

  kill(): void {
    if (!this.#hasEnded) void signalGroup(this.child.pid, "SIGKILL");
  }

  async #cleanUp(): Promise<void> {
    await endProcessTree({ pid: this.child.pid }, 0);
    this.#exitHook.release();
    this.child.closePipes();
  }
}
