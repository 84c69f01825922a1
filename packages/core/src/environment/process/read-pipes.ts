import type { Readable } from "node:stream";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { ChildConnection } from "./child-connection.ts";
import { DecodedOutput } from "./decode-output.ts";
import { OutputQueue, type RawChunk } from "./output-queue.ts";

/** With this many bytes unread the process is made to wait. One turn of the event loop reads up to 2 MiB of a pipe. */
const MAX_UNREAD = 4 * 1024 * 1024;
/** How long a pipe that somebody still holds open may be silent before reading ends. */
const QUIET_MS = 50;
/** The longest time, and the most bytes, that are read after the process has ended. */
const DRAIN_MS = 1000;
const DRAIN_BYTES = 8 * 1024 * 1024;

/** Reads the outputs of a process, as decoded text without vault values. */
export class PipeReader {
  readonly output: DecodedOutput;
  readonly #queue: OutputQueue = new OutputQueue(() => this.#resumeWhenRead());
  #pipes: readonly Readable[] = [];
  #closed: Promise<void> = Promise.resolve();
  #received = 0;
  /** How much `#received` may become; finite once the process has ended. */
  #limit = Number.POSITIVE_INFINITY;

  constructor(vault: Readonly<Record<string, string>> | undefined) {
    this.output = new DecodedOutput(this.#queue, vault);
  }

  start({ outputs, closed }: Pick<ChildConnection, "outputs" | "closed">): void {
    this.#pipes = outputs.map(({ from }) => from);
    this.#closed = closed;
    for (const { stream, from } of outputs) this.#read(stream, from);
  }

  /**
   * To be called when the process has ended: reads what it left in the pipes, as fast as it comes, then ends `output`.
   *
   * Waiting for end-of-file would last as long as any child that inherited the pipe, so reading also ends when the pipes
   * are silent for 50 ms, after a second, and after 8 MiB (PE-033).
   */
  async drain(): Promise<void> {
    const givesUpAt = performance.now() + DRAIN_MS;
    this.#limit = this.#received + DRAIN_BYTES;
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
    this.close();
  }

  /** Nothing more will be read. */
  close(): void {
    this.#queue.close();
  }

  #read(stream: RawChunk["stream"], pipe: Readable): void {
    // A pipe that breaks has nothing more to say; how the process ended says the rest.
    pipe.on("error", () => undefined);
    pipe.on("data", (bytes: Buffer) => {
      if (this.#received >= this.#limit) return;
      this.#received += bytes.length;
      this.#queue.push({ stream, bytes });
      if (this.#queue.length > MAX_UNREAD && this.#limit === Number.POSITIVE_INFINITY) {
        for (const each of this.#pipes) each.pause();
      }
    });
  }

  #resumeWhenRead(): void {
    if (this.#queue.length > MAX_UNREAD / 2) return;
    for (const pipe of this.#pipes) if (pipe.isPaused()) pipe.resume();
  }
}
