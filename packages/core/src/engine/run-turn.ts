import { errorText } from "../errors/error-text.ts";
import type { LLMOutcome } from "../llm/contract.ts";
import { eventMessage } from "../omnimessage/build.ts";
import type { EventPayload, OmniMessage, ToolCallOutputPayload } from "../omnimessage/message.ts";
import type { Engine, Run } from "./engine.ts";
import { INTERRUPTED, isTimeout, unlessAborted } from "./interruption.ts";
import { MAX_RECONNECTS, MAX_RETRY_AFTER_MS, reconnectDelayMs } from "./reconnect.ts";
import { CallBatch, type Denial } from "./run-calls.ts";
import type { TaskEnd } from "./run-outcome.ts";
import { type Reply, runRequest } from "./run-request.ts";

/** What one turn brought: a committed reply with its outputs, or the end of the task. */
export interface Turn {
  readonly reply?: Reply;
  /** In the order of the reply's calls. */
  readonly outputs: readonly OmniMessage<ToolCallOutputPayload>[];
  readonly denials: readonly Denial[];
  /** Set when the task cannot go on. */
  readonly end?: TaskEnd;
}

/**
 * One turn: a request, tried again while that can help, and the results of its calls. `request_end` follows the stream
 * at once; the turn ends when every call that began has its output.
 */
export async function runTurn(engine: Engine, run: Run): Promise<Turn> {
  const denials: Denial[] = [];
  let lastFailure: string | undefined;
  for (let attempt = 1; ; attempt++) {
    const tools = await offerTools(engine, run);
    const newMessages = engine.log.nextInput();
    const batch = new CallBatch(engine, run);
    await run.emit(eventMessage({ type: "request_begin" }));
    const reply = await runRequest(engine, run, { newMessages, ...(tools && { tools }) }, batch);
    const { outcome } = reply;
    const committed = outcome.status === "completed";
    if (!committed) batch.cutOff();
    if (!committed && outcome.status !== "aborted") lastFailure = outcome.message ?? outcome.status;

    const retryInMs = retryDelay(outcome, attempt, run.signal);
    if (reply.usage) void run.emit(reply.usage);
    await run.emit(eventMessage(requestEnd(outcome, attempt, retryInMs)));

    const waited = retryInMs === undefined ? undefined : engine.reconnector.wait(retryInMs, run.signal);
    const outputs = await batch.settle(committed);
    denials.push(...batch.denials);
    await waited;

    if (committed) {
      engine.offer.introduce(outputs);
      const interrupted = run.signal.aborted ? { end: interruption(run.signal) } : {};
      return { reply, outputs, denials, ...interrupted };
    }
    if (run.signal.aborted) return { outputs, denials, end: interruption(run.signal, lastFailure) };
    if (retryInMs === undefined) return { outputs, denials, end: failure(outcome, attempt) };
  }
}

/** How a run ends whose signal has fired; `lastFailure` is why the request that was being tried again had failed. */
export function interruption(signal: AbortSignal, lastFailure?: string): TaskEnd {
  const after = lastFailure === undefined ? "" : ` while a request was tried again; the last attempt: ${lastFailure}`;
  return isTimeout(signal)
    ? { status: "timeout", message: `the time limit of the run was reached${after}` }
    : { status: "aborted", message: `the run was interrupted${after}` };
}

/** Asks the environment for its tools; a changed offer is recorded and handed to the model. */
async function offerTools(engine: Engine, run: Run): Promise<Engine["offer"]["tools"] | undefined> {
  try {
    const listed = await unlessAborted(engine.environment.listTools(), run.signal);
    if (listed === INTERRUPTED || !engine.offer.update(listed)) return undefined;
  } catch (error) {
    engine.onWarning({ code: "tools-unlisted", message: `the tools could not be listed: ${errorText(error)}` });
    return undefined;
  }
  await run.emit(eventMessage({ type: "tool_list_ready", tools: engine.offer.tools }));
  return engine.offer.tools;
}

function requestEnd(outcome: LLMOutcome, attempt: number, retryInMs: number | undefined): EventPayload<"request_end"> {
  return {
    type: "request_end",
    status: outcome.status,
    ...(outcome.finishReason && { finish_reason: outcome.finishReason }),
    ...(outcome.message !== undefined && { error_message: outcome.message }),
    ...(outcome.status !== "completed" && { attempt }),
    ...(retryInMs !== undefined && { retry_in_ms: retryInMs }),
  };
}

/** The wait before the next attempt; `undefined` when there will be none. */
function retryDelay(outcome: LLMOutcome, attempt: number, signal: AbortSignal): number | undefined {
  const hopeless = outcome.permanent || outcome.overflow || signal.aborted;
  if (hopeless || attempt > MAX_RECONNECTS) return undefined;
  if (outcome.status !== "timeout" && outcome.status !== "malformed" && outcome.status !== "failed") return undefined;
  if ((outcome.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) return undefined;
  return reconnectDelayMs(attempt, outcome);
}

function failure(outcome: LLMOutcome, attempts: number): TaskEnd {
  const said = outcome.message ?? outcome.status;
  if (outcome.status === "auth") return { status: "auth", message: said };
  if (outcome.status === "aborted") return { status: "aborted", message: said };
  if (outcome.overflow) {
    return {
      status: "failed",
      code: "context-overflow",
      message: `the conversation does not fit the model's context window (${said}), and it could not be made shorter`,
    };
  }
  if (outcome.permanent) return { status: "failed", code: "provider-refused", message: said };
  if ((outcome.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) {
    const seconds = Math.ceil((outcome.retryAfterMs ?? 0) / 1000);
    return {
      status: "failed",
      code: "retries-exhausted",
      message: `the provider asks to wait ${seconds} s before the next request (${said}); try again then`,
    };
  }
  return {
    status: "failed",
    code: "retries-exhausted",
    message: `the model did not answer in ${attempts} attempts; the last one: ${said}`,
  };
}
