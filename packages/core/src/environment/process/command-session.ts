import { type OutputPiece, piecesText } from "../output-piece.ts";
import { isLowSurrogate } from "../shorten.ts";
import type { ProcessInput } from "./child-connection.ts";
import { CommandOutput } from "./command-output.ts";
import type { ProcessEnd, RunningProcess } from "./run-process.ts";
import { UnreadText } from "./unread-text.ts";

/** With this many characters unread a program that is being followed has to wait. */
const MAX_AHEAD_CHARS = 256 * 1024;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What was started, as it is told to people and programs. */
export interface StartedCommand {
  readonly command: string;
  readonly cwd: string;
  /** The values that never appear in output. */
  readonly vault?: Readonly<Record<string, string>> | undefined;
}

/**
 * A command and what it has printed that nobody has read.
 *
 * It is read all the time. While somebody follows it, it waits for its reader and nothing is lost; on its own it never
 * waits, and the oldest unread text is dropped (`UnreadText`).
 */
export class CommandSession {
  readonly started: StartedCommand;
  readonly startedAt: Date = new Date();
  /** What `printed` was when somebody last was shown what a person would see. */
  shown = 0;
  /** Resolves when the command has ended and everything it printed can be taken; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  readonly #running: RunningProcess;
  readonly #output: CommandOutput;
  readonly #unread = new UnreadText();
  readonly #waiting = new Set<() => void>();
  #end: ProcessEnd | undefined;
  #printed = 0;
  #followers = 0;
  #isStopped = false;
  #onTaken: () => void = () => undefined;

  constructor(running: RunningProcess, started: StartedCommand) {
    this.started = started;
    this.#running = running;
    this.#output = new CommandOutput(started.vault);
    this.ended = this.#read();
  }

  /** How it ended; absent while it runs. */
  get end(): ProcessEnd | undefined {
    return this.#end;
  }

  /** Grows whenever there is something new to be seen. */
  get printed(): number {
    return this.#printed;
  }

  get isFollowed(): boolean {
    return this.#followers > 0;
  }

  get hasUnread(): boolean {
    return this.#unread.length > 0;
  }

  /** Its input, as soon as it runs; absent when it could not be started. */
  get input(): Promise<ProcessInput | undefined> {
    return this.#running.started;
  }

  /** The last 4 KiB as printed, where escape sequences are among them. */
  get ansi(): string | undefined {
    return this.#output.ansi;
  }

  /** The last 4 KiB of what a person would see now. */
  snapshot(): string {
    return this.#output.snapshot();
  }

  /** Makes the command wait for its reader from now on, until the returned function is called. */
  follow(): () => void {
    this.#followers += 1;
    return () => {
      this.#followers -= 1;
      this.#onTaken();
    };
  }

  /** The text that is final and was not taken before. */
  take(): OutputPiece[] {
    const pieces = this.#unread.take();
    this.#onTaken();
    return pieces;
  }

  /** The same and the lines that have not ended, as they are now. */
  takeAll(): OutputPiece[] {
    this.#unread.push(this.#output.flush());
    return this.take();
  }

  /** Of the same the last characters, and how many stay before them to be taken later. */
  takeEnd(maxChars: number): { readonly text: string; readonly leftChars: number } {
    const text = piecesText(this.takeAll());
    const excess = Math.max(0, text.length - maxChars);
    const leftChars = excess > 0 && isLowSurrogate(text.charCodeAt(excess)) ? excess + 1 : excess;
    this.#unread.push(text.slice(0, leftChars));
    return { text: text.slice(leftChars), leftChars };
  }

  /** Keeps no more than so many characters that nobody has taken. */
  limitUnread(maxChars: number): void {
    this.#unread.limit(maxChars);
  }

  /** Waits until `printed` is another or the command has ended, the time is over, or the signal fires. */
  async change(printed: number, waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#printed !== printed || this.#end !== undefined || waitMs <= 0 || signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        signal?.removeEventListener("abort", wake);
        // All that lies ready is read first: a flood of output costs its reader few turns.
        if (this.#end === undefined) setImmediate(resolve);
        else resolve();
      };
      const timer = Number.isFinite(waitMs) ? setTimeout(wake, Math.min(waitMs, MAX_TIMER_MS)) : undefined;
      this.#waiting.add(wake);
      signal?.addEventListener("abort", wake);
    });
  }

  /** Delivers Ctrl-C. */
  interrupt(): Promise<void> {
    return this.#running.interrupt();
  }

  /** Ends it and what it started: at once if the reason is a `TimeoutError`, else with a grace of two seconds. */
  async stop(reason?: unknown): Promise<void> {
    void this.#running.stop(reason);
    // Whoever stops it does not read meanwhile.
    this.#isStopped = true;
    this.#onTaken();
    await this.ended;
  }

  async #read(): Promise<ProcessEnd> {
    for await (const chunk of this.#running.output) {
      for (const piece of this.#output.push(chunk)) this.#unread.push(piece);
      this.#announce();
      while (this.isFollowed && !this.#isStopped && this.#unread.length > MAX_AHEAD_CHARS) {
        await new Promise<void>((resolve) => {
          this.#onTaken = resolve;
        });
      }
    }
    this.#unread.push(this.#output.end());
    this.#end = await this.#running.ended;
    this.#announce();
    return this.#end;
  }

  #announce(): void {
    this.#printed += 1;
    for (const wake of this.#waiting) wake();
  }
}
