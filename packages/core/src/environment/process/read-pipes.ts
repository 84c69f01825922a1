import type { ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { OutputQueue, type ProcessChunk } from "./output-queue.ts";
import { VaultRedactor } from "./redact-vault.ts";

/** A process whose output is read through pipes. */
export type PipedProcess = ChildProcessByStdio<null, Readable, Readable>;

/** With this many characters unread the process is made to wait. */
const MAX_UNREAD = 1024 * 1024;
/** How long a pipe that somebody still holds open may be silent before reading ends. */
const QUIET_MS = 50;
/** The longest time, and the most characters, that are read after the process has ended. */
const DRAIN_MS = 1000;
const DRAIN_LENGTH = 8 * 1024 * 1024;

/** Reads standard output and standard error of a process, as decoded text without vault values. */
export class PipeReader {
  readonly output: OutputQueue = new OutputQueue(() => this.#resumeWhenRead());
  readonly #redactors: Readonly<Record<ProcessChunk["stream"], VaultRedactor>>;
  #pipes: readonly Readable[] = [];
  #closed: Promise<void> = Promise.resolve();
  #received = 0;
  /** How much `#received` may become; finite once the process has ended. */
  #limit = Number.POSITIVE_INFINITY;

  constructor(vault: Readonly<Record<string, string>> | undefined) {
    this.#redactors = { stdout: new VaultRedactor(vault), stderr: new VaultRedactor(vault) };
  }

  start(child: PipedProcess): void {
    this.#pipes = [child.stdout, child.stderr];
    this.#closed = new Promise((resolve) => child.once("close", () => resolve()));
    this.#read("stdout", child.stdout);
    this.#read("stderr", child.stderr);
  }

  /**
   * To be called when the process has ended: reads what it left in the pipes, as fast as it comes, then closes `output`.
   *
   * Waiting for end-of-file would last as long as any child that inherited the pipe, so reading also ends when the pipes
   * are silent for 50 ms, after a second, and after 8 Mi characters (PE-033).
   */
  async drain(): Promise<void> {
    const givesUpAt = performance.now() + DRAIN_MS;
    this.#limit = this.#received + DRAIN_LENGTH;
    for (const pipe of this.#pipes) pipe.resume();
    let isClosed = false;
    const closed = this.#closed.then(() => {
      isClosed = true;
    });
    let before: number;
    do {
      before = this.#received;
      await Promise.race([closed, pause(QUIET_MS)]);
      // What lay ready while the event loop was busy with something else counts as having come in time.
      await nextTurn();
    } while (!isClosed && this.#received > before && this.#received < this.#limit && performance.now() < givesUpAt);
    for (const pipe of this.#pipes) pipe.destroy();
    for (const stream of ["stdout", "stderr"] as const)
      this.output.push({ stream, text: this.#redactors[stream].end() });
    this.output.close();
  }

  #read(stream: ProcessChunk["stream"], pipe: Readable): void {
    pipe.setEncoding("utf8");
    // A pipe that breaks has nothing more to say; how the process ended says the rest.
    pipe.on("error", () => undefined);
    pipe.on("data", (text: string) => {
      if (this.#received >= this.#limit) return;
      this.#received += text.length;
      this.output.push({ stream, text: this.#redactors[stream].push(text) });
      if (this.output.length > MAX_UNREAD && this.#limit === Number.POSITIVE_INFINITY) {
        for (const each of this.#pipes) each.pause();
      }
    });
  }

  #resumeWhenRead(): void {
    if (this.output.length > MAX_UNREAD / 2) return;
    for (const pipe of this.#pipes) if (pipe.isPaused()) pipe.resume();
  }
}
