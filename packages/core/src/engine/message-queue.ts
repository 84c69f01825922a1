import type { OmniMessage } from "../omnimessage/message.ts";

/** Producers wait while more messages than this are unread. */
const HIGH_WATER = 256;

/**
 * Joins what the model and the running tools say, in order of arrival, for one reader.
 *
 * A reader that falls behind slows the producers: `push` then returns a promise to wait for.
 */
export class MessageQueue {
  #messages: OmniMessage[] = [];
  #closed = false;
  #discarding = false;
  #patient = true;
  #wakeReader: (() => void) | undefined;
  #waitingProducers: (() => void)[] = [];

  push(message: OmniMessage): void | Promise<void> {
    if (this.#discarding) return undefined;
    this.#messages.push(message);
    this.#wakeReader?.();
    if (!this.#patient || this.#messages.length <= HIGH_WATER) return undefined;
    return new Promise((resolve) => this.#waitingProducers.push(resolve));
  }

  /** Nothing more will come. */
  close(): void {
    this.#closed = true;
    this.#wakeReader?.();
  }

  /** Producers wait no longer for a reader who may never come back; what they say is kept. */
  stopWaiting(): void {
    this.#patient = false;
    this.#releaseProducers();
  }

  /** The reader has gone: what is there and what comes is dropped, and nobody waits. */
  discard(): void {
    this.#discarding = true;
    this.#messages = [];
    this.#releaseProducers();
  }

  /** Everything that is there, waiting for the first message; `undefined` at the end. */
  async take(): Promise<readonly OmniMessage[] | undefined> {
    while (this.#messages.length === 0) {
      if (this.#closed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
      this.#wakeReader = undefined;
    }
    const taken = this.#messages;
    this.#messages = [];
    this.#releaseProducers();
    return taken;
  }

  #releaseProducers(): void {
    const waiting = this.#waitingProducers;
    this.#waitingProducers = [];
    for (const resolve of waiting) resolve();
  }
}
