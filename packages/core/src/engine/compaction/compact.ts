import { eventMessage, userText } from "../../omnimessage/build.ts";
import { estimateMessageTokens } from "../../omnimessage/estimate-tokens.ts";
import { isType } from "../../omnimessage/guards.ts";
import type { EventPayload, OmniMessage, StopReason } from "../../omnimessage/message.ts";
import { runningMessages } from "../background-report.ts";
import { splitCarried } from "../context-log.ts";
import type { Engine, TaskRun } from "../engine.ts";
import { addSpending, NO_SPENDING, type Spending } from "../run-outcome.ts";
import { recentMessages } from "./recent-messages.ts";
import { requestSummary, type SummaryOutcome } from "./request-summary.ts";
import { shortenOutputs } from "./shorten-outputs.ts";
import { contextSummary, NO_SUMMARY } from "./summary-text.ts";

type Reason = EventPayload<"compaction_begin">["reason"];
type Mode = EventPayload<"compaction_begin">["mode"];

/** What a compaction came to. */
export interface Compaction {
  readonly status: StopReason;
  /** With which the run goes on: on a new context when it completed, else on the old one. */
  readonly engine: Engine;
  readonly message?: string;
  readonly spent: Spending;
}

/**
 * Replaces the model context by a shorter one: old outputs are shortened where that is enough, else the model summarises.
 *
 * Between its two events nothing is shown but the summary and what its requests took. Where the model that is named for
 * summaries fails, the context's own is asked, between two events of its own. A context whose compaction fails stays as it
 * was; what was not answered yet is never part of a summary and is said again.
 */
export async function compact(engine: Engine, run: TaskRun, reason: Reason): Promise<Compaction> {
  const scene = sceneOf(engine);
  const shorter = shortened(engine, scene, reason);
  const mode: Mode = shorter ? "prune" : reason === "overflow" ? "summarize" : engine.compaction.mode;
  const summariser = mode === "summarize" ? summariserOf(engine, scene, reason) : undefined;
  const { tokens: context, turns } = engine.log;
  const model = summariser?.name;
  await run.emit(eventMessage({ type: "compaction_begin", reason, mode, context, turns, ...(model && { model }) }));
  const { prompt } = engine.compaction;
  const asked: SummaryOutcome = summariser
    ? await requestSummary(engine, run, { ...summariser, prompt })
    : { status: "completed", attempts: 1, spent: NO_SPENDING };
  const { status, message, attempts, spent, summary } = asked;
  const failed = message !== undefined && { error_message: message };
  const attempt = summariser && { attempt: attempts };
  await run.emit(eventMessage({ type: "compaction_end", reason, mode, status, ...attempt, ...failed }));
  if (status === "completed") {
    const carried = shorter ?? opening(engine, run, scene, reason, summary);
    const started = engine.startContext(carried);
    if (started.isOnRecord) return { status, engine: started.engine, spent };
    return { status: "failed", engine: started.engine, message: "the next context could not be recorded", spent };
  }
  // A conversation that was too long for its own summary is too long for its model.
  if (asked.overflow && reason !== "overflow") {
    const second = await compact(engine, run, "overflow");
    return { ...second, spent: addSpending(spent, second.spent) };
  }
  // What only summarises is no reason to give up: the context's own model can, too.
  const { summaryModel, ...own } = engine;
  if (summaryModel && mode === "summarize" && !run.signal.aborted) {
    const second = await compact(own, run, reason);
    const after = second.status === "completed" ? second.engine : engine;
    return { ...second, engine: after, spent: addSpending(spent, second.spent) };
  }
  return { status, engine, spent, ...(message !== undefined && { message }) };
}

/** The conversation as it stands, and what was said that no reply has answered. */
interface Scene {
  readonly conversation: readonly OmniMessage[];
  /** The outputs at its end. */
  readonly answers: readonly OmniMessage[];
  readonly unanswered: readonly OmniMessage[];
}

function sceneOf({ log }: Engine): Scene {
  const input = log.nextInput();
  const said = input.findIndex((message) => !isType(message, "tool_call_output"));
  const answers = said === -1 ? input : input.slice(0, said);
  return { conversation: [...log.history, ...answers], answers, unanswered: input.slice(answers.length) };
}

/** How full a context may still be that is only to be shortened. */
const ROOM = 0.8;

/** What the next context starts with if shortening old outputs is enough; absent if it is not, or not wanted. */
function shortened({ log, compaction }: Engine, scene: Scene, reason: Reason): OmniMessage[] | undefined {
  const { keepOutputTokens, contextWindow, maxContextTokens = contextWindow } = compaction;
  if (keepOutputTokens === undefined || (reason !== "context" && reason !== "overflow")) return undefined;
  const conversation = shortenOutputs(scene.conversation, Math.min(keepOutputTokens, Math.floor(contextWindow / 4)));
  const saved = estimateMessageTokens(scene.conversation) - estimateMessageTokens(conversation);
  const before = reason === "overflow" ? Math.max(contextWindow, log.tokens) : log.tokens;
  const limit = reason === "overflow" ? contextWindow : maxContextTokens;
  return before - saved <= limit * ROOM ? [...conversation, ...scene.unanswered] : undefined;
}

/** Who is asked for the summary; named where that is not the context's own model object. */
function summariserOf(
  engine: Engine,
  { conversation, answers, unanswered }: Scene,
  reason: Reason,
): { llm: Engine["llm"]; answers: readonly OmniMessage[]; name?: string } {
  const { summaryModel, compaction } = engine;
  if (!summaryModel && unanswered.length === 0 && reason !== "overflow") return { llm: engine.llm, answers };
  const fitting = reason === "overflow" ? fitted(conversation, compaction.contextWindow) : conversation;
  const { history, opening } = splitCarried(fitting);
  const { name, open } = summaryModel ?? engine.ownModel;
  return { llm: open(history), answers: opening, name };
}

/** Of the window; the rest is for the prompt, the tools and the summary. */
const SUMMARISED_SHARE = 0.6;

function fitted(conversation: readonly OmniMessage[], contextWindow: number): OmniMessage[] {
  const short = shortenOutputs(conversation, 0);
  const recent = recentMessages(short, contextWindow * SUMMARISED_SHARE);
  return recent.length === short.length ? short : [userText(LEFT_OUT, "harness"), ...recent];
}

const LEFT_OUT = "[the conversation before this is left out]";

/** Of the turns that are kept otherwise. */
const OVERFLOW_SHARE = 0.5;

/** What the next context knows of the conversation, and what no reply has answered. */
function opening(
  { compaction }: Engine,
  { notices }: TaskRun,
  { conversation, unanswered }: Scene,
  reason: Reason,
  summary: string | undefined,
): OmniMessage[] {
  // What did not fit was estimated too low, and what is kept of it is estimated by the same rule.
  const share = reason === "overflow" ? OVERFLOW_SHARE : 1;
  const recent = recentMessages(conversation, compaction.keepRecentTokens * share);
  const rest = [
    ...runningMessages(notices.list()),
    ...recent,
    ...unanswered.filter((message) => !isNoSummary(message)),
  ];
  if (summary !== undefined) return [userText(contextSummary(summary), "harness"), ...rest];
  return recent.length === 0 ? rest : [userText(LEFT_OUT, "harness"), ...rest];
}

/** The attempts that it speaks of stay behind. */
function isNoSummary(message: OmniMessage): boolean {
  return isType(message, "text") && message.payload.sender === "harness" && message.payload.text === NO_SUMMARY;
}
