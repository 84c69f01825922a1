import type { BackgroundNotices } from "../engine/background-notices.ts";
import { compact } from "../engine/compaction/compact.ts";
import type { TaskRun } from "../engine/engine.ts";
import { runGoal } from "../engine/goal/run-goal.ts";
import {
  addSpending,
  type GoalOptions,
  NO_SPENDING,
  type RunOptions,
  type RunOutcome,
  type Spending,
} from "../engine/run-outcome.ts";
import { endTask, runTask } from "../engine/run-task.ts";
import type { BackgroundJob, OnWarning } from "../environment/contract.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import type { ModelPricing } from "../llm/cost.ts";
import type { OmniMessage, SessionMetaPayload, StopReason } from "../omnimessage/message.ts";
import { BackgroundHost } from "./background-host.ts";
import { createControlFile } from "./goal/control-file.ts";
import { interruptible } from "./interruptible.ts";
import { KeyGuard, type SessionKey } from "./key-guard.ts";
import type { ModelContext } from "./model-context.ts";
import { OneRun } from "./one-run.ts";
import { checkGoalInput, checkInput } from "./session-input.ts";
import type { SessionRecord } from "./session-record.ts";
import type { SessionUndo } from "./undo/session-undo.ts";
import { undoRecords } from "./undo/undo-note.ts";
import type { UndoOptions, UndoResult } from "./undo/undo-task.ts";

const DEFAULT_MAX_ROUNDS = 100;

/** How a compaction ended that was asked for; `completed` also where there was nothing to compact. */
export interface CompactionOutcome {
  readonly status: StopReason;
  readonly message?: string;
}

/** A command that goes on behind the calls. */
export type BackgroundCommand = Pick<BackgroundJob, "id" | "startedAt" | "status"> & { readonly command: string };

/** What a session is made of; `agent.createSession` puts it together. */
export interface SessionParts {
  readonly meta: OmniMessage<SessionMetaPayload>;
  readonly record: SessionRecord;
  readonly context: ModelContext;
  readonly background: BackgroundNotices;
  readonly maxTurns: number | undefined;
  readonly undo: SessionUndo;
  /** Told of what undo put back: its hash, or that it is gone. */
  readonly onRestored: (path: string, sha256: string | undefined) => void;
  /** What its runs took before it was opened; absent: nothing. */
  readonly spent?: Spending;
  /** Whether its model is known to see images. */
  readonly vision: boolean;
  /** What its model costs; absent where that is not known. */
  readonly pricing?: ModelPricing;
  /** Absent where the model is the caller's own. */
  readonly key?: SessionKey;
  /** Told once the session has been given up. */
  readonly onDisposed?: (session: Session) => void;
  readonly onWarning: OnWarning;
}

/**
 * A conversation of one agent in one workspace.
 *
 * Making one does no network; the first run connects, lists the tools and makes the model.
 */
export class Session {
  readonly #parts: SessionParts;
  readonly #run: OneRun;
  readonly #host: BackgroundHost;
  readonly #keyGuard: KeyGuard;
  #closed = false;
  #spent: Spending;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#run = new OneRun(parts, () => this.#host.tell());
    this.#host = new BackgroundHost(parts.background, () => this.#run.isFree, parts.onWarning);
    this.#keyGuard = new KeyGuard(parts.key);
    this.#spent = parts.spent ?? NO_SPENDING;
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
   * Runs one task: gives the model the input and streams what follows until a reply makes no call. With a `goal` it runs
   * round after round until the objective is reached.
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
    const begin = (run: TaskRun): Promise<RunOutcome> => this.#runTask(messages, options, run);
    const check = (): void => (options.goal ? checkGoalInput : checkInput)(messages);
    return interruptible(this.#stream(begin, options, left, check), () => left.abort());
  }

  /** Whether `compact` would do something: it would not while nothing was said, or right behind a summary. */
  get compactability(): "ok" | "empty" | "just-compacted" {
    const { log } = this.#parts.context;
    if (log.turns > 0) return "ok";
    return log.isSummarised ? "just-compacted" : "empty";
  }

  /**
   * Makes room in the model context now, as it is done by itself when the context is full. Streams the pair of events with
   * the summary between them; nothing where there is nothing to compact.
   *
   * @throws {RookeryError} As `run`.
   */
  compact(options: Pick<RunOptions, "signal"> = {}): AsyncGenerator<OmniMessage, CompactionOutcome> {
    const left = new AbortController();
    return interruptible(
      this.#stream((run) => this.#compact(run), options, left),
      () => left.abort(),
    );
  }

  /**
   * Puts the files back that a task changed, by default the last one that did. A file that is not as the task left it is
   * refused unless `force`. The model is told with the next request.
   *
   * @throws {RookeryError} `session-busy`, `session-closed`, `workspace-missing`; `usage` for a task that is not on record.
   */
  async undo(options: UndoOptions = {}): Promise<UndoResult> {
    this.#assertFree();
    return this.#run.hold(this.#undo(options));
  }

  /** Misuse is thrown at the first `next()`. */
  async *#stream<T>(
    begin: (run: TaskRun) => Promise<T>,
    options: RunOptions,
    left: AbortController,
    check: () => void = () => undefined,
  ): AsyncGenerator<OmniMessage, T> {
    this.#assertFree();
    check();
    return yield* this.#run.stream(begin, options, left);
  }

  /**
   * Says something to the run that is under way: its next request brings it, and a task that would have ended goes on.
   * What is not delivered comes back in the outcome.
   *
   * @returns False when no run is under way, or the one that is takes nothing any more; then it can be the next prompt.
   * @throws {RookeryError} `input-empty` for what no user says; an empty list is nothing and no error.
   */
  steer(messages: readonly OmniMessage[]): boolean {
    if (!isNothing(messages)) checkInput(messages);
    return this.#run.input?.steer(messages) ?? false;
  }

  /** As `steer`, but it waits until the task would end. */
  followUp(messages: readonly OmniMessage[]): boolean {
    if (!isNothing(messages)) checkInput(messages);
    return this.#run.input?.followUp(messages) ?? false;
  }

  /** Takes back the very list that was given to `steer` or `followUp`; false when it is on its way. */
  unsteer(messages: readonly OmniMessage[]): boolean {
    return this.#run.input?.withdraw(messages) ?? false;
  }

  /**
   * Tells a host that something has ended in the background while no run is under way, so that it can start one with
   * `takeBackgroundNotices`; at once where something waits already. Without a host the next run says it.
   *
   * @returns Ends this.
   */
  onBackgroundNotice(listener: () => void): () => void {
    return this.#host.add(listener);
  }

  /** Whether the model is still to be told of something in the background. */
  get hasPendingBackgroundNotices(): boolean {
    return this.#parts.background.hasPending;
  }

  /** Hands the notices over as the input of a run, each once; none while a run is under way, which says them itself. */
  takeBackgroundNotices(): OmniMessage[] {
    return this.#run.isFree ? this.#parts.background.take() : [];
  }

  /** The commands in the background: those that run, and those whose end the model does not know yet. */
  listBackgroundCommands(): BackgroundCommand[] {
    return this.#parts.background
      .list()
      .map(({ id, title: command, startedAt, status }) => ({ id, command, startedAt, status }));
  }

  /** Ends a command in the background with all it started; the model gets no notice. False when none of this id runs. */
  killBackgroundCommand(id: string): Promise<boolean> {
    return this.#parts.background.kill(id);
  }

  /** Ends the wait before the next attempt at a request; false when nothing waits. */
  skipReconnectWait(): boolean {
    return this.#parts.context.skipReconnectWait();
  }

  /** Interrupts a run, ends every process and gives the session up; may be called twice. */
  async dispose(): Promise<void> {
    this.#closed = true;
    this.#parts.background.close();
    await this.#run.stop();
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
    if (!this.#run.isFree) {
      throw new RookeryError("session-busy", `session ${this.sessionId} is already running`, {
        hint: "await its run, or abort it first",
      });
    }
  }

  async #undo(options: UndoOptions): Promise<UndoResult> {
    const { undo, record, onRestored } = this.#parts;
    const done = await undo.undo(options);
    for (const message of undoRecords(done)) record.add(message);
    for (const { path, sha256 } of done.changed) onRestored(path, sha256);
    return done.result;
  }

  /** Takes nothing that is said meanwhile: no request of it could bring that. */
  async #compact(run: TaskRun): Promise<CompactionOutcome> {
    run.queue.close();
    await this.#keyGuard.assertChanged();
    if (this.compactability !== "ok") return { status: "completed" };
    const opened = await this.#parts.context.open(run);
    if (!("engine" in opened)) return { status: opened.status, ...(opened.message && { message: opened.message }) };
    const { status, message, spent } = await compact(opened.engine, run, "manual");
    this.#spent = addSpending(this.#spent, spent);
    return { status, ...(message !== undefined && { message }) };
  }

  async #runTask(messages: readonly OmniMessage[], options: RunOptions, run: TaskRun): Promise<RunOutcome> {
    const { undo } = this.#parts;
    await this.#keyGuard.assertChanged();
    undo.beginTask(messages);
    for (const notice of run.notices.take()) await run.emit(notice);
    const outcome = options.goal
      ? await this.#pursue(messages, options.goal, options, run)
      : await this.#doTask(messages, options, run);
    await undo.endTask();
    this.#spent = addSpending(this.#spent, spendingOf(outcome));
    if (outcome.status === "auth") this.#keyGuard.refuse();
    return outcome;
  }

  async #doTask(messages: readonly OmniMessage[], options: RunOptions, run: TaskRun): Promise<RunOutcome> {
    const { context, maxTurns } = this.#parts;
    for (const message of messages) run.record(message);
    const opened = await context.open(run);
    if (!("engine" in opened)) return endTask(run, opened);
    return runTask(opened.engine, run, { maxTurns, maxCostUsd: options.maxCostUsd });
  }

  #pursue(
    input: readonly OmniMessage[],
    { budgetTokens, maxRounds = DEFAULT_MAX_ROUNDS }: GoalOptions,
    { maxCostUsd }: RunOptions,
    run: TaskRun,
  ): Promise<RunOutcome> {
    const { context, maxTurns, record } = this.#parts;
    return runGoal(run, {
      input,
      budget: { tokens: budgetTokens, costUsd: maxCostUsd },
      // Written so that a limit that is no number ends the goal, too.
      maxRounds: maxRounds <= 0 ? undefined : maxRounds,
      maxTurns,
      createFile: (objective) => createControlFile(record.paths.scratchpadDir, objective),
      open: () => context.open(run),
    });
  }
}

function spendingOf({ turns, usage, cost_usd }: RunOutcome): Spending {
  return { turns, usage, ...(cost_usd !== undefined && { cost_usd }) };
}

/** Of a program that nobody checks anything may come, no list too. */
function isNothing(messages: readonly OmniMessage[]): boolean {
  return Array.isArray(messages) && messages.length === 0;
}
