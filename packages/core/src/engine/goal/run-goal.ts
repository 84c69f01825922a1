import { errorText } from "../../errors/error-text.ts";
import { eventMessage, userText } from "../../omnimessage/build.ts";
import { readGoalInput } from "../../omnimessage/goal-input.ts";
import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import type { ContextLog } from "../context-log.ts";
import type { Engine, TaskRun } from "../engine.ts";
import { limitReached } from "../run-limits.ts";
import {
  addSpending,
  type GoalResult,
  NO_SPENDING,
  type RunOutcome,
  type Spending,
  type TaskEnd,
} from "../run-outcome.ts";
import { driveTask, endTask, NO_PROGRESS, type Progress } from "../run-task.ts";
import { interruption } from "../run-turn.ts";
import { budgetLine, budgetSpent, type GoalBudget } from "./goal-budget.ts";
import type { GoalFile } from "./goal-file.ts";
import { roundText } from "./round-text.ts";

/** A goal, and what it takes to work on it. */
export interface Goal {
  /** Text, with images or without. */
  readonly input: readonly OmniMessage[];
  readonly budget: GoalBudget;
  /** `undefined`: no limit. */
  readonly maxRounds: number | undefined;
  /** Of each round; `undefined`: no limit. */
  readonly maxTurns: number | undefined;
  readonly createFile: (objective: string) => Promise<GoalFile>;
  /** The engine as it stands, or how the run ends without one. */
  readonly open: () => Promise<{ readonly engine: Engine } | TaskEnd>;
}

/** Enough to look, to write down where things stand, and to say so. */
const WRAP_UP_TURNS = 6;

/**
 * Works on a goal round after round, each run as a task is, until the control file says that it is reached or blocked, a
 * round does not complete, or the budget is spent: then the round in hand ends before its next request, and one more brings
 * things to a state that can be left. A goal that is reached on the way counts as reached.
 *
 * The input of every round is recorded and shown. Steering goes to the round that is under way, follow-ups wait for a goal
 * that is reached. The last message is `goal_finished`, behind the `abort` of a goal that was not.
 */
export function runGoal(run: TaskRun, goal: Goal): Promise<RunOutcome> {
  return new GoalRun(run, goal).toEnd();
}

interface GoalEnd {
  readonly outcome: GoalResult["outcome"];
  readonly end: TaskEnd;
}

const COMPLETED: TaskEnd = { status: "completed" };

class GoalRun {
  readonly #run: TaskRun;
  readonly #goal: Goal;
  readonly #objective: string;
  #progress = NO_PROGRESS;
  #rounds = 0;
  #tokens = 0;
  /** The input of the round under way once the round has taken so much; absent when the goal is reached. */
  #roundInput: ((spent: Spending) => OmniMessage) | undefined;

  constructor(run: TaskRun, goal: Goal) {
    this.#run = { ...run, emit: (message) => this.#emit(run, message), remind: (...given) => this.#remind(...given) };
    this.#goal = goal;
    this.#objective = goal.input.flatMap((message) => (isType(message, "text") ? message.payload.text : [])).join("\n");
  }

  async toEnd(): Promise<RunOutcome> {
    this.#run.queue.holdsFollowUps = true;
    const { outcome, end } = await this.#work();
    const ended = await endTask(this.#run, end, this.#progress);
    const goal = { outcome, rounds: this.#rounds, tokens_used: this.#tokens };
    await this.#run.emit(eventMessage({ type: "goal_finished", ...goal }));
    return { ...ended, goal };
  }

  async #work(): Promise<GoalEnd> {
    let file: GoalFile;
    try {
      file = await this.#goal.createFile(this.#objective.trim());
    } catch (error) {
      for (const message of this.#goal.input) this.#run.record(message);
      return aborted({ status: "failed", message: `the goal's control file cannot be written: ${errorText(error)}` });
    }
    const { signal } = this.#run;
    const { maxRounds } = this.#goal;
    while (maxRounds === undefined || this.#rounds < maxRounds) {
      if (this.#rounds > 0 && signal.aborted) return aborted(interruption(signal));
      const ended = await this.#round(file);
      if (ended) return ended;
    }
    const message = `the goal was not reached in ${maxRounds} ${maxRounds === 1 ? "round" : "rounds"}`;
    return { outcome: "budget_limited", end: { status: "failed", code: "budget", message } };
  }

  /** Absent: there is another one. */
  async #round(file: GoalFile): Promise<GoalEnd | undefined> {
    const { maxTurns } = this.#goal;
    const end = await this.#task(
      file,
      (spent) => limitReached(spent, { maxTurns, maxCostUsd: undefined }) ?? this.#budgetSpent(spent),
    );
    if (end.status !== "completed" && end.code !== "budget") return aborted(end);
    const status = await file.readStatus();
    if (status === "complete") return this.#reached();
    if (status !== "active") return blocked(status, file);
    const spent = this.#budgetSpent();
    return spent && this.#wrapUp(file, spent);
  }

  async #wrapUp(file: GoalFile, spent: TaskEnd): Promise<GoalEnd> {
    const { signal } = this.#run;
    if (signal.aborted) return aborted(interruption(signal));
    const limited: GoalEnd = { outcome: "budget_limited", end: spent };
    const { turns, cost_usd: cost } = this.#progress;
    const isUnknown = this.#goal.budget.costUsd !== undefined && cost === undefined;
    if (turns === 0 || isUnknown) return limited;
    const maxTurns = Math.min(WRAP_UP_TURNS, this.#goal.maxTurns ?? WRAP_UP_TURNS);
    const end = await this.#task(file, (taken) => limitReached(taken, { maxTurns, maxCostUsd: undefined }), maxTurns);
    if (end.status !== "completed" && end.code !== "max-turns") return aborted(end);
    if ((await file.readStatus()) === "complete") return this.#reached();
    // With what the last round took.
    return { ...limited, end: this.#budgetSpent() ?? spent };
  }

  async #task(file: GoalFile, limit: (spent: Spending) => TaskEnd | undefined, wrapUpTurns?: number): Promise<TaskEnd> {
    this.#rounds += 1;
    const isFirst = this.#rounds === 1;
    const body = isFirst ? this.#objective : this.#objective.trim();
    const wrapUp = wrapUpTurns !== undefined && { wrapUpTurns };
    const number = this.#rounds;
    this.#roundInput = (spent) => {
      const budget = budgetLine(this.#goal.budget, this.#tokens, addSpending(this.#progress, spent));
      return userText(roundText({ number, body, budget, ...wrapUp }, file), "harness");
    };
    const images = isFirst ? this.#goal.input.filter((message) => !isType(message, "text")) : [];
    for (const message of [this.#roundInput(NO_SPENDING), ...images]) await this.#run.emit(message);
    return this.#drive(limit);
  }

  async #drive(limit: (spent: Spending) => TaskEnd | undefined): Promise<TaskEnd> {
    const opened = await this.#goal.open();
    if (!("engine" in opened)) return opened;
    const { end, progress } = await driveTask(opened.engine, this.#run, limit);
    this.#progress = joined(this.#progress, progress);
    return end;
  }

  /** What was to wait for the end is the last task of the run, if there is a budget left for it. */
  async #reached(): Promise<GoalEnd> {
    const { queue, signal } = this.#run;
    queue.holdsFollowUps = false;
    this.#roundInput = undefined;
    if (!queue.goesOn || signal.aborted || this.#budgetSpent()) return { outcome: "complete", end: COMPLETED };
    for (const message of queue.takeContinuation()) await this.#run.emit(message);
    const { maxTurns } = this.#goal;
    const end = await this.#drive(
      (spent) => limitReached(spent, { maxTurns, maxCostUsd: undefined }) ?? this.#budgetSpent(spent),
    );
    return { outcome: "complete", end };
  }

  /** A summary tells neither the rules nor the control file; a context that kept the round's input needs nothing. */
  #remind(log: ContextLog, spent: Spending): OmniMessage | undefined {
    const isTold = [...log.history, ...log.nextInput()].some(readGoalInput);
    return isTold ? undefined : this.#roundInput?.(spent);
  }

  /** @param spent - By the task in hand. */
  #budgetSpent(spent?: Spending): TaskEnd | undefined {
    const all = spent ? addSpending(this.#progress, spent) : this.#progress;
    return budgetSpent(this.#goal.budget, this.#tokens, all);
  }

  /** Tokens are counted where they go by, those of tools and summaries too. */
  #emit(run: TaskRun, message: OmniMessage): void | Promise<void> {
    if (isType(message, "token_usage") && message.origin === undefined) {
      const { total, cache_read } = message.payload.request;
      this.#tokens += Math.max(total - cache_read, 0);
    }
    return run.emit(message);
  }
}

function aborted(end: TaskEnd): GoalEnd {
  return { outcome: "aborted", end };
}

function blocked(status: "blocked" | { readonly problem: string }, { planPath }: GoalFile): GoalEnd {
  const why = `the model says that it cannot reach the goal; why may stand in its notes, ${planPath}`;
  const message = status === "blocked" ? why : status.problem;
  return { outcome: "blocked", end: { status: "failed", code: "goal-blocked", message } };
}

function joined(before: Progress, progress: Progress): Progress {
  return {
    text: progress.text || before.text,
    ...addSpending(before, progress),
    denied: [...before.denied, ...progress.denied],
  };
}
