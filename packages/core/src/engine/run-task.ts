import { eventMessage } from "../omnimessage/build.ts";
import type { OmniMessage, ToolCallOutputPayload } from "../omnimessage/message.ts";
import { ContextKeeper } from "./compaction/context-keeper.ts";
import type { Engine, TaskRun } from "./engine.ts";
import type { Denial } from "./run-calls.ts";
import { limitReached, type RunLimits } from "./run-limits.ts";
import { addSpending, NO_SPENDING, type RunOutcome, type Spending, type TaskEnd } from "./run-outcome.ts";
import type { Reply } from "./run-request.ts";
import { interruption, runTurn } from "./run-turn.ts";

/** Replies in a row that may end inside a call before the task is given up. */
const MAX_CUT_REPLIES = 2;

/** What a task has brought so far. */
export type Progress = Omit<RunOutcome, keyof TaskEnd>;

export const NO_PROGRESS: Progress = { text: "", ...NO_SPENDING, denied: [] };

/** Drives one task as `driveTask` does. One that does not complete ends with an `abort` event, its last message. */
export async function runTask(opened: Engine, run: TaskRun, limits: RunLimits): Promise<RunOutcome> {
  const { end, progress } = await driveTask(opened, run, (spent) => limitReached(spent, limits));
  return endTask(run, end, progress);
}

/**
 * Drives one task from recorded input to its end: turn after turn until a reply makes no call, or every output of a reply
 * asks to stop, and nobody has said more meanwhile and nothing has ended in the background; or until something ends it. The
 * end itself is not recorded.
 *
 * @param limit - Asked before every request: how the task ends that may make no further one.
 */
export async function driveTask(
  opened: Engine,
  run: TaskRun,
  limit: (spent: Spending) => TaskEnd | undefined,
): Promise<{ readonly end: TaskEnd; readonly progress: Progress }> {
  let engine = opened;
  let before = opened;
  const keeper = new ContextKeeper(run);
  const denials: Denial[] = [];
  let spent = NO_SPENDING;
  let text = "";
  let cutReplies = 0;

  const total = (): Spending => addSpending(spent, keeper.spent);
  const finish = (end: TaskEnd): { end: TaskEnd; progress: Progress } => ({
    end,
    progress: { text, ...total(), denied: denials.map(({ tool, reason }) => ({ tool, reason })) },
  });
  /** How it ends unless there is more to say. */
  let done: TaskEnd | undefined;

  for (;;) {
    const reached = limit(total());
    const goesOn = run.queue.goesOn || run.notices.hasPending;
    if (done && (reached || !goesOn)) return finish(done);
    if (run.signal.aborted) return finish(interruption(run.signal));
    if (reached) return finish(reached);
    const reminder = engine === before ? undefined : run.remind?.(engine.log, total());
    if (reminder) run.record(reminder);
    before = engine;
    const notices = run.notices.take();
    const said = done && notices.length === 0 ? run.queue.takeContinuation() : run.queue.takeSteering();
    for (const message of [...notices, ...said]) await run.emit(message);
    const { reply, outputs, denials: refused, end } = await runTurn(engine, run);
    denials.push(...refused);
    if (reply?.usage) {
      const { request, cost_usd } = reply.usage.payload;
      spent = addSpending(spent, { turns: 1, usage: request, ...(cost_usd !== undefined && { cost_usd }) });
      text = reply.text;
    }
    if (end?.code === "context-overflow") {
      const repaired = await keeper.afterOverflow(engine, end);
      if (repaired.end) return finish(repaired.end);
      ({ engine } = repaired);
      done = undefined;
      continue;
    }
    if (end || !reply) return finish(end ?? interruption(run.signal));
    cutReplies = reply.calls.some(isCut) ? cutReplies + 1 : 0;
    if (cutReplies === MAX_CUT_REPLIES) {
      const message = `${MAX_CUT_REPLIES} replies in a row reached the output limit inside a tool call`;
      return finish({ status: "failed", code: "output-length", message });
    }
    const isDone = reply.calls.length === 0 || outputs.every(terminates);
    // A summary is a request, too, and none comes after the budget.
    if (limit(total())?.code !== "budget") {
      const kept = await keeper.afterTurn(engine, isDone);
      if (kept.end) return finish(kept.end);
      ({ engine } = kept);
    }
    done = isDone ? taskEnd(reply, denials) : undefined;
  }
}

/** Ends a task: with an `abort` event unless it completed. */
export async function endTask(
  run: Pick<TaskRun, "emit" | "queue">,
  end: TaskEnd,
  progress: Progress = NO_PROGRESS,
): Promise<RunOutcome> {
  const { status, code, message } = end;
  const undelivered = run.queue.close();
  if (status !== "completed") {
    const reason = message !== undefined && { reason: message };
    await run.emit(eventMessage({ type: "abort", ...reason, ...(code && { code }) }));
  }
  return { ...end, ...progress, ...(undelivered && { undelivered }) };
}

/** How a task ends that has nothing left to do. */
function taskEnd({ outcome, calls }: Reply, denials: readonly Denial[]): TaskEnd {
  if (calls.length === 0 && outcome.finishReason === "length") {
    const message = "the reply reached the output limit";
    return { status: "failed", code: "output-length", message };
  }
  if (calls.length === 0 && outcome.finishReason === "content_filter") {
    const message = "the provider's content filter ended the reply";
    return { status: "failed", code: "provider-refused", message };
  }
  const unanswered = denials.filter((denial) => denial.unanswered);
  if (unanswered.length > 0) {
    const tools = [...new Set(unanswered.map((denial) => denial.tool))].join(", ");
    const message = `calls of ${tools} were denied because nobody could answer`;
    return { status: "failed", code: "approval-unanswered", message };
  }
  return { status: "completed" };
}

function isCut(call: Reply["calls"][number]): boolean {
  return call.payload.stop_reason === "malformed";
}

function terminates(output: OmniMessage<ToolCallOutputPayload>): boolean {
  return output.payload.terminate === true;
}
