import { errorText } from "../errors/error-text.ts";
import type { GenerativeModelParameters, LLMOutcome } from "../llm/contract.ts";
import { eventMessage } from "../omnimessage/build.ts";
import { isType } from "../omnimessage/guards.ts";
import type { EventPayload, OmniMessage, ToolCallPayload } from "../omnimessage/message.ts";
import { NO_TOKENS } from "../omnimessage/token-counts.ts";
import type { Engine, Run } from "./engine.ts";
import { INTERRUPTED, Patience } from "./interruption.ts";
import { ReplyGuard } from "./reply-guard.ts";
import type { CallBatch } from "./run-calls.ts";

/** How long a model that ignores its signal may go on before it is left behind. */
const ABANDON_AFTER_MS = 3_000;

/** What one request brought. */
export interface Reply {
  readonly outcome: LLMOutcome;
  readonly text: string;
  readonly calls: readonly OmniMessage<ToolCallPayload>[];
  /** Present if and only if the request completed: what the model reported, or zeros. */
  readonly usage?: OmniMessage<EventPayload<"token_usage">>;
}

/**
 * Makes one request and shows the reply as it comes. A call starts once a later segment has begun; the last one waits
 * for the caller, who knows how the request ended. What must stand at the end (usage, `request_end`) is the caller's too.
 */
export async function runRequest(
  engine: Pick<Engine, "llm">,
  run: Run,
  parameters: Pick<GenerativeModelParameters, "newMessages" | "tools">,
  batch: Pick<CallBatch, "start">,
): Promise<Reply> {
  const guard = new ReplyGuard();
  const calls: OmniMessage<ToolCallPayload>[] = [];
  const text: string[] = [];
  let usage: OmniMessage<EventPayload<"token_usage">> | undefined;
  /** Complete calls that nothing followed yet, and whatever came behind one that may have been cut. */
  let held: OmniMessage<ToolCallPayload>[] = [];

  const show = async (messages: readonly OmniMessage[]): Promise<void> => {
    for (const message of messages) {
      if (held.length > 0 && !held.some(isCut) && !isSameCall(message, held.at(-1))) {
        for (const call of held) batch.start(call);
        held = [];
      }
      const shown = run.emit(message);
      if (shown) await shown;
      if (isType(message, "text")) text.push(message.payload.text);
      if (isType(message, "tool_call") && isWhole(message.payload)) {
        calls.push(message);
        held.push(message);
      }
    }
  };

  const outcome = await pull(engine, run, parameters, (message) => {
    if (!isType(message, "token_usage")) return show(guard.take(message));
    usage = message;
    return undefined;
  });
  await show(guard.end(outcome.status));
  if (outcome.status !== "completed") return { outcome, text: text.join(""), calls };
  for (const call of held) batch.start(call);
  return { outcome, text: text.join(""), calls, usage: usage ?? noUsage() };
}

/** Drives the model's generator to its outcome; a throw and a model that never comes back become outcomes too. */
async function pull(
  engine: Pick<Engine, "llm">,
  { signal, thinkingLevel }: Run,
  parameters: Pick<GenerativeModelParameters, "newMessages" | "tools">,
  show: (message: OmniMessage) => Promise<void> | undefined,
): Promise<LLMOutcome> {
  const patience = new Patience(signal, ABANDON_AFTER_MS);
  try {
    const reply = engine.llm.streamGenerate({ ...parameters, signal, ...(thinkingLevel && { thinkingLevel }) });
    for (;;) {
      const step = await patience.waitFor(reply.next());
      if (step === INTERRUPTED) {
        reply.return({ status: "aborted" }).catch(() => undefined);
        return { status: "aborted" };
      }
      if (step.done) return step.value ?? { status: "failed", message: "the model ended without an outcome" };
      const shown = show(step.value);
      if (shown) await shown;
    }
  } catch (error) {
    if (signal.aborted) return { status: "aborted" };
    return { status: "failed", message: errorText(error) };
  } finally {
    patience.dispose();
  }
}

/** A call that the model finished, or that the reply's length limit cut: both must be answered. */
function isWhole(call: ToolCallPayload): boolean {
  return call.stop_reason === undefined || call.stop_reason === "completed" || call.stop_reason === "malformed";
}

/** The length limit cut it, or the stream broke off inside it: only the outcome tells which. */
function isCut(call: OmniMessage<ToolCallPayload>): boolean {
  return call.payload.stop_reason === "malformed";
}

function isSameCall(message: OmniMessage, call: OmniMessage<ToolCallPayload> | undefined): boolean {
  return (message.payload as { tool_call_id?: string }).tool_call_id === call?.payload.tool_call_id;
}

function noUsage(): OmniMessage<EventPayload<"token_usage">> {
  return eventMessage({ type: "token_usage", request: NO_TOKENS, session: NO_TOKENS });
}
