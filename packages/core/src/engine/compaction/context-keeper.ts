import type { Engine, TaskRun } from "../engine.ts";
import { addSpending, NO_SPENDING, type Spending, type TaskEnd } from "../run-outcome.ts";
import { interruption } from "../run-turn.ts";
import { type Compaction, compact } from "./compact.ts";
import { compactionDue, isHopeless } from "./trigger.ts";

/** Shortening outputs may not be enough, and then there is a summary; more cannot help. */
const MAX_REPAIRS = 2;

/** Says what a request takes in which nothing has been said yet. */
function withOverhead({ fixedTokens, compaction }: Engine, { message = "", ...end }: TaskEnd): TaskEnd {
  const tokens = `about ${fixedTokens()} of ${compaction.contextWindow} tokens`;
  return { ...end, message: `${message}; the system prompt and the tools alone take ${tokens}` };
}

/** Makes room in the model context of one task, when it is due and when a request did not fit. */
export class ContextKeeper {
  readonly #run: TaskRun;
  #failed = false;
  #repairs = 0;
  #spent = NO_SPENDING;

  constructor(run: TaskRun) {
    this.#run = run;
  }

  /** What the compactions of the task took so far. */
  get spent(): Spending {
    return this.#spent;
  }

  /**
   * After a committed request and its calls. A compaction that fails is not tried again in this task, which goes on.
   *
   * @param isDone - The task ends unless somebody has said more.
   * @returns With what the task goes on, or how it ends.
   */
  async afterTurn(engine: Engine, isDone: boolean): Promise<{ readonly engine: Engine; readonly end?: TaskEnd }> {
    this.#repairs = 0;
    const { log, compaction, onWarning } = engine;
    const due = compactionDue(log, compaction);
    if (log.turns === 1 && compaction.maxContextTokens !== undefined && isHopeless(log, compaction.maxContextTokens)) {
      const message = `the context takes ${log.tokens} tokens right behind its summary; it is left as it is`;
      onWarning({ code: "compaction-no-progress", message });
    }
    const isBadMoment =
      compaction.mode === "discard" && (!isDone || this.#run.queue.goesOn || this.#run.notices.hasPending);
    if (!due || this.#failed || isBadMoment || this.#run.signal.aborted) return { engine };
    return this.#settle(await compact(engine, this.#run, due));
  }

  /** After a request that did not fit: the engine to try it again with, or how the task ends. */
  async afterOverflow(engine: Engine, end: TaskEnd): Promise<{ readonly engine: Engine; readonly end?: TaskEnd }> {
    const { log, compaction } = engine;
    if (log.history.length === 0) return { engine, end: withOverhead(engine, end) };
    const canHelp = compaction.maxContextTokens !== undefined;
    if (!canHelp || this.#repairs === MAX_REPAIRS) return { engine, end };
    this.#repairs += 1;
    const made = await compact(engine, this.#run, "overflow");
    const settled = this.#settle(made);
    return made.status === "completed" || settled.end ? settled : { engine, end };
  }

  #settle({ engine, status, message = status, spent }: Compaction): { engine: Engine; end?: TaskEnd } {
    this.#spent = addSpending(this.#spent, spent);
    if (status === "completed") return { engine };
    this.#failed = true;
    // The key of a model that only summarises is no reason: the task's own requests do not need it.
    if (status === "auth" && !engine.summaryModel) return { engine, end: { status, message } };
    if (status === "aborted" || this.#run.signal.aborted) return { engine, end: interruption(this.#run.signal) };
    return { engine };
  }
}
