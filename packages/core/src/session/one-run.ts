import { setMaxListeners } from "node:events";
import type { BackgroundNotices } from "../engine/background-notices.ts";
import type { TaskRun } from "../engine/engine.ts";
import { InputQueue } from "../engine/input-queue.ts";
import { MessageQueue } from "../engine/message-queue.ts";
import { oneAtATime } from "../engine/one-at-a-time.ts";
import type { RunOptions } from "../engine/run-outcome.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import type { SessionRecord } from "./session-record.ts";

/** Where a run records what it says, and what it is told of. */
export interface RunPlace {
  readonly record: SessionRecord;
  readonly background: BackgroundNotices;
}

/** What a session is busy with: one thing at a time. */
export class OneRun {
  readonly #place: RunPlace;
  readonly #onFree: () => void;
  #current: { readonly ended: Promise<unknown>; readonly input?: InputQueue; interrupt(): void } | undefined;

  /** @param onFree - Told when a run has ended. */
  constructor(place: RunPlace, onFree: () => void) {
    this.#place = place;
    this.#onFree = onFree;
  }

  get isFree(): boolean {
    return this.#current === undefined;
  }

  /** Takes what is said to the run that is under way; absent while there is none. */
  get input(): InputQueue | undefined {
    return this.#current?.input;
  }

  /** Interrupts what is under way and resolves when it has ended. */
  async stop(): Promise<void> {
    this.#current?.interrupt();
    await this.#current?.ended;
  }

  /** Something that streams nothing and is not to be interrupted. The caller has made sure that nothing else is under way. */
  async hold<T>(work: Promise<T>): Promise<T> {
    this.#current = { ended: work.catch(() => undefined), interrupt: () => undefined };
    try {
      return await work;
    } finally {
      this.#current = undefined;
    }
  }

  /**
   * Runs something that emits messages, and streams what it emits. Leaving early interrupts it and waits for its end. The
   * caller has made sure that nothing else is under way.
   */
  async *stream<T>(
    begin: (run: TaskRun) => Promise<T>,
    options: RunOptions,
    left: AbortController,
  ): AsyncGenerator<OmniMessage, T> {
    const queue = new MessageQueue();
    const input = new InputQueue(options);
    const signal = options.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal;
    // Any number of calls share it: that is no leak, and Node must not print that it is.
    setMaxListeners(0, signal);
    const task = begin(this.#taskRun({ ...options, signal }, input, queue)).finally(() => queue.close());
    const ended = task.catch(() => undefined);
    this.#current = { ended, input, interrupt: () => left.abort() };
    left.signal.addEventListener("abort", () => queue.stopWaiting(), { once: true });
    try {
      for (let ready = await queue.take(); ready !== undefined; ready = await queue.take()) yield* ready;
      return await task;
    } finally {
      left.abort();
      queue.discard();
      await ended;
      this.#current = undefined;
      this.#onFree();
    }
  }

  #taskRun(options: RunOptions & { readonly signal: AbortSignal }, input: InputQueue, queue: MessageQueue): TaskRun {
    const { record, background } = this.#place;
    return {
      ...options,
      notices: options.backgroundNotices === "hold" ? background.held() : background,
      ...(options.approve && { approve: oneAtATime(options.approve) }),
      queue: input,
      record: (message) => record.add(message),
      emit(message) {
        record.add(message);
        return queue.push(message);
      },
    };
  }
}
