import type { LLMInterface, LLMOutcome } from "../../llm/contract.ts";
import { eventMessage, userText } from "../../omnimessage/build.ts";
import { isCompleteModelMessage, isType } from "../../omnimessage/guards.ts";
import type { OmniMessage, StopReason, ToolCallPayload } from "../../omnimessage/message.ts";
import type { Engine, TaskRun } from "../engine.ts";
import { MAX_RECONNECTS, MAX_RETRY_AFTER_MS, reconnectDelayMs } from "../reconnect.ts";
import { ReplyGuard } from "../reply-guard.ts";
import { addSpending, NO_SPENDING, type Spending } from "../run-outcome.ts";
import { type Reply, runRequest } from "../run-request.ts";
import { engineOutput } from "../stream-output.ts";
import { extractSummary, SUMMARY_CORRECTION } from "./summary-text.ts";

/** What came of asking for a summary. */
export interface SummaryOutcome {
  readonly status: StopReason;
  /** Present when `status` is `completed`. */
  readonly summary?: string;
  readonly message?: string;
  readonly attempts: number;
  /** The conversation does not fit the model that was asked. */
  readonly overflow?: boolean;
  readonly spent: Spending;
}

/**
 * Asks a model for a summary of its conversation until it gives one, with the reconnects of a turn for whatever goes wrong.
 *
 * What is said is recorded and not shown, but for the summary's own text and what each request took. A reply that calls
 * tools, or says nothing, is no summary: its calls are answered, and the next attempt says so, since models repeat themselves.
 *
 * @param answers - What the model's last calls are answered with.
 */
export async function requestSummary(
  engine: Engine,
  run: TaskRun,
  { llm, answers, prompt }: { llm: LLMInterface; answers: readonly OmniMessage[]; prompt: string },
): Promise<SummaryOutcome> {
  let input = [...answers, recorded(run, userText(prompt, "harness"))];
  let spent = NO_SPENDING;
  for (let attempts = 1; ; attempts++) {
    const { reply, said } = await attempt({ ...engine, llm }, run, input);
    const { outcome, usage } = reply;
    const summary = outcome.status === "completed" && reply.calls.length === 0 ? extractSummary(reply.text) : undefined;
    await show(run, said, summary !== undefined);
    if (usage) {
      await run.emit(usage);
      const { request, cost_usd } = usage.payload;
      spent = addSpending(spent, { turns: 0, usage: request, ...(cost_usd !== undefined && { cost_usd }) });
    }
    run.record(requestEnd(outcome));
    if (summary !== undefined) return { status: "completed", summary, attempts, spent };
    const isCommitted = outcome.status === "completed";
    const refused = isCommitted ? refuse(run, reply.calls) : [];
    if (attempts > MAX_RECONNECTS || isFinal(outcome)) return { ...failure(outcome), attempts, spent };
    if (isCommitted) input = [...refused, recorded(run, userText(`${SUMMARY_CORRECTION}\n\n${prompt}`, "harness"))];
    else await engine.reconnector.wait(reconnectDelayMs(attempts, outcome), run.signal);
    if (run.signal.aborted) return { status: "aborted", attempts, spent };
  }
}

async function attempt(
  engine: Engine,
  run: TaskRun,
  newMessages: readonly OmniMessage[],
): Promise<{ reply: Reply; said: readonly OmniMessage[] }> {
  const said: OmniMessage[] = [];
  const emit = (message: OmniMessage): void => void (isCompleteModelMessage(message) && said.push(message));
  run.record(eventMessage({ type: "request_begin" }));
  const reply = await runRequest(engine, { signal: run.signal, emit }, { newMessages }, { start: () => undefined });
  return { reply, said };
}

async function show(run: TaskRun, said: readonly OmniMessage[], isSummary: boolean): Promise<void> {
  for (const message of said) {
    if (!isSummary || !isType(message, "text")) run.record(message);
    else for (const fragment of new ReplyGuard().take(message)) await run.emit(fragment);
  }
}

/** Answers the calls of a reply that was to be a summary. */
function refuse(run: TaskRun, calls: readonly OmniMessage<ToolCallPayload>[]): OmniMessage[] {
  return calls.map(({ payload: { tool_call_id } }) => {
    const reason = "no tool is run while a summary is made";
    run.record(
      eventMessage({ type: "approval_decision", tool_call_id, decision: "deny", decided_by: "default", reason }),
    );
    return recorded(run, engineOutput(tool_call_id, `[not run: ${reason}]`, "failed"));
  });
}

function recorded(run: TaskRun, message: OmniMessage): OmniMessage {
  run.record(message);
  return message;
}

function requestEnd({ status, finishReason, message }: LLMOutcome): OmniMessage {
  return eventMessage({
    type: "request_end",
    status,
    ...(finishReason && { finish_reason: finishReason }),
    ...(message !== undefined && { error_message: message }),
  });
}

function isFinal({ status, permanent, overflow, retryAfterMs = 0 }: LLMOutcome): boolean {
  return status === "auth" || status === "aborted" || !!permanent || !!overflow || retryAfterMs > MAX_RETRY_AFTER_MS;
}

function failure({ status, message, overflow }: LLMOutcome): Pick<SummaryOutcome, "status" | "message" | "overflow"> {
  if (status === "completed") return { status: "failed", message: "the model gave no summary" };
  return { status, ...(message !== undefined && { message }), ...(overflow && { overflow }) };
}
