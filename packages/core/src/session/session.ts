import { MessageQueue } from "../engine/message-queue.ts";
import { oneAtATime } from "../engine/one-at-a-time.ts";
import { addSpending, NO_SPENDING, type RunOptions, type RunOutcome, type Spending } from "../engine/run-outcome.ts";
import { endTask, runTask } from "../engine/run-task.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import type { ModelPricing } from "../llm/cost.ts";
import type { OmniMessage, SessionMetaPayload } from "../omnimessage/message.ts";
import { interruptible } from "./interruptible.ts";
import type { ModelContext } from "./model-context.ts";
import { checkInput } from "./session-input.ts";
import type { SessionRecord } from "./session-record.ts";

/** The key of a session's model: the one its last request was made with, and the one the next would be. */
export interface SessionKey {
  used(): string | undefined;
  current(): Promise<string | undefined>;
}

/** What a session is made of; `agent.createSession` puts it together. */
export interface SessionParts {
  readonly meta: OmniMessage<SessionMetaPayload>;
  readonly record: SessionRecord;
  readonly context: ModelContext;
  readonly maxTurns: number | undefined;
  /** Whether its model is known to see images. */
  readonly vision: boolean;
  /** What its model costs; absent where that is not known. */
  readonly pricing?: ModelPricing;
  /** Absent where the model is the caller's own. */
  readonly key?: SessionKey;
  /** Told once the session has been given up. */
  readonly onDisposed?: (session: Session) => void;
}

/**
 * A conversation of one agent in one workspace.
 *
 * Making one does no network; the first run connects, lists the tools and makes the model.
 */
export class Session {
  readonly #parts: SessionParts;
  #running: { readonly ended: Promise<unknown>; interrupt(): void } | undefined;
  #closed = false;
  #spent = NO_SPENDING;
  #refusedKey: { readonly key: string | undefined } | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  get sessionId(): string {
    return this.#parts.meta.payload.session_id;
  }

  get workspaceDir(): string {
    return this.#parts.meta.payload.workspace;
  }

  /** What stays the same for the life of the model context, as its trace begins. */
  get meta(): SessionMetaPayload {
    return this.#parts.meta.payload;
  }

  /** Whether its model is known to see images. */
  get vision(): boolean {
    return this.#parts.vision;
  }

  /** What its model costs; absent where that is not known, and for a model of the caller's own. */
  get pricing(): ModelPricing | undefined {
    return this.#parts.pricing;
  }

  /** What the session's runs took so far. */
  get spent(): Spending {
    return this.#spent;
  }

  /** Where the session is recorded, for people and programs that read traces. */
  get traceFile(): string {
    return this.#parts.record.file;
  }

  /**
   * Runs one task: gives the model the input and streams what follows until a reply makes no call.
   *
   * Every failure of a model or a tool is in the stream and in the returned outcome. Leaving the loop early interrupts
   * the run and waits for its end. What an interrupted run leaves unanswered goes to the model with the next input.
   *
   * @param messages - User text, images and data; recorded, and not echoed into the stream.
   * @throws {RookeryError} At the first `next()`, for misuse only: `session-busy`, `session-closed`, `session-auth`,
   *   `input-empty`.
   */
  run(messages: readonly OmniMessage[], options: RunOptions = {}): AsyncGenerator<OmniMessage, RunOutcome> {
    const left = new AbortController();
    return interruptible(this.#run(messages, options, left), () => left.abort());
  }

  async *#run(
    messages: readonly OmniMessage[],
    options: RunOptions,
    left: AbortController,
  ): AsyncGenerator<OmniMessage, RunOutcome> {
    this.#assertFree();
    checkInput(messages);
    const queue = new MessageQueue();
    const signal = options.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal;
    const task = this.#drive(messages, { ...options, signal }, queue).finally(() => queue.close());
    const ended = task.catch(() => undefined);
    this.#running = { ended, interrupt: () => left.abort() };
    left.signal.addEventListener("abort", () => queue.stopWaiting(), { once: true });
    try {
      for (let ready = await queue.take(); ready !== undefined; ready = await queue.take()) yield* ready;
      return await task;
    } finally {
      left.abort();
      queue.discard();
      await ended;
      this.#running = undefined;
    }
  }

  /** Ends the wait before the next attempt at a request; false when nothing waits. */
  skipReconnectWait(): boolean {
    return this.#parts.context.skipReconnectWait();
  }

  /** Interrupts a run, ends every process and gives the session up; may be called twice. */
  async dispose(): Promise<void> {
    this.#closed = true;
    this.#running?.interrupt();
    await this.#running?.ended;
    await this.#parts.context.dispose();
    this.#parts.record.close();
    this.#parts.onDisposed?.(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #assertFree(): void {
    if (this.#closed) {
      throw new RookeryError("session-closed", `session ${this.sessionId} has been disposed of`, {
        hint: "create or resume a session",
      });
    }
    if (this.#running) {
      throw new RookeryError("session-busy", `session ${this.sessionId} is already running`, {
        hint: "await its run, or abort it first",
      });
    }
  }

  async #drive(
    messages: readonly OmniMessage[],
    options: RunOptions & { readonly signal: AbortSignal },
    queue: MessageQueue,
  ): Promise<RunOutcome> {
    const { record, context, maxTurns } = this.#parts;
    const limits = { maxTurns, maxCostUsd: options.maxCostUsd };
    await this.#assertKeyChanged();
    const emit = (message: OmniMessage): void | Promise<void> => {
      record.add(message);
      return queue.push(message);
    };
    for (const message of messages) record.add(message);
    const run = { ...options, ...(options.approve && { approve: oneAtATime(options.approve) }), emit };
    const opened = await context.open(run);
    const outcome = "engine" in opened ? await runTask(opened.engine, run, limits) : await endTask(run, opened);
    this.#spent = addSpending(this.#spent, spendingOf(outcome));
    if (outcome.status === "auth") this.#refusedKey = { key: this.#parts.key?.used() };
    return outcome;
  }

  /** After a refused key only another one gets a run (PC-026); a model of the caller's own has no key to compare. */
  async #assertKeyChanged(): Promise<void> {
    const { key } = this.#parts;
    if (!this.#refusedKey || !key) return;
    if ((await key.current().catch(() => undefined)) === this.#refusedKey.key) {
      throw new RookeryError("session-auth", "the provider refused the key of this session's model", {
        hint: "set a valid key and run again",
      });
    }
    this.#refusedKey = undefined;
  }
}

function spendingOf({ turns, usage, cost_usd }: RunOutcome): Spending {
  return { turns, usage, ...(cost_usd !== undefined && { cost_usd }) };
}
