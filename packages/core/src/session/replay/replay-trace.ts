import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import type { ApproveFn } from "../../approval/contract.ts";
import type { Hooks } from "../../engine/hooks.ts";
import type { RunOutcome } from "../../engine/run-outcome.ts";
import { RookeryError } from "../../errors/rookery-error.ts";
import type { CreateLLM } from "../../llm/contract.ts";
import { modelMessage } from "../../omnimessage/build.ts";
import { isPartialPayload, isSessionMeta, isType } from "../../omnimessage/guards.ts";
import type { OmniMessage, SessionMetaPayload } from "../../omnimessage/message.ts";
import { isOmniMessage } from "../../omnimessage/validate.ts";
import type { Session } from "../session.ts";
import { compareCalls, type Normalisers, type ReplayedCall } from "./compare-calls.ts";
import { outputNormaliser } from "./normalise-output.ts";
import { recordedApproval, recordedHooks } from "./recorded-decisions.ts";
import {
  type RecordedCall,
  type RecordedRun,
  recordedCalls,
  recordedRequests,
  recordedRuns,
  recordedVision,
} from "./recording.ts";
import { isWord, type Move, relocated } from "./relocate.ts";
import { ReplayLLM } from "./replay-llm.ts";

/** Makes the session of a replay, as an `Agent` does. */
export interface SessionMaker {
  createSession(options: {
    readonly createLLM: CreateLLM;
    readonly hooks?: Hooks;
    readonly provider: string;
    readonly modelId: string;
    readonly vision: boolean | "unknown";
    readonly source: string;
    readonly maxTurns: number;
    readonly workspaceDir?: string;
  }): Promise<Session>;
}

export interface ReplayOptions {
  /** Whose tools, hooks and environment are run. */
  readonly agent: SessionMaker;
  /** Where the tools work; it must hold what was there when the session began. Default: the agent's choice, a fresh one. */
  readonly workspaceDir?: string;
  /** Asked about each call that the record allowed; its denial holds. */
  readonly restrict?: ApproveFn;
  /**
   * The agent's own `beforeToolCall` hooks block and replace arguments, and are compared with what the record's did; default
   * false: what a hook did in the record is done again, whatever hooks there are.
   */
  readonly ownHooks?: boolean;
  /** Text of outputs that does not count in the comparison, beside what differs by its nature. */
  readonly ignore?: readonly RegExp[];
  /** What the new session's record says it came from; default `replay`. */
  readonly source?: string;
  readonly signal?: AbortSignal;
  /** The wait before each delta of text and thinking, for who watches; default 0. */
  readonly deltaDelayMs?: number;
  /** Told of each run before it begins. */
  readonly onRun?: (run: { readonly session: Session; readonly input: readonly OmniMessage[] }) => void;
}

/** What a replay brought. */
export interface ReplayReport {
  /** The new session, and the one whose record was played. */
  readonly sessionId: string;
  readonly recordedSessionId: string;
  readonly workspaceDir: string;
  readonly traceFile: string;
  /** Of each run, in order. */
  readonly outcomes: readonly RunOutcome[];
  readonly calls: readonly ReplayedCall[];
  /** What differs beside single calls. */
  readonly problems: readonly string[];
  /** Nothing differs. */
  readonly equal: boolean;
}

/**
 * Runs a recorded session again, as a new one: the inputs, the model's replies and the decisions come from the record,
 * and the tools really run. Paths of the recorded workspace in the arguments of calls become the new one's; a call that
 * would lead there all the same is denied.
 *
 * **What the record allowed is done**, with the rights of this process. What it does not hold a decision on is denied.
 * Replies of failed attempts are not played, so that what their calls did is missing. Interrupted, it ends with the run.
 *
 * @param records - The session's, of all its contexts one after another.
 * @returns A generator of the runs' messages; its return value compares call by call.
 * @throws {RookeryError} At the first `next()`: `trace-corrupt` for records that are no session or hold no whole reply of
 *   a model, and what `createSession` and `run` throw.
 */
export async function* replayTrace(
  records: Iterable<OmniMessage>,
  options: ReplayOptions,
): AsyncGenerator<OmniMessage, ReplayReport> {
  const all = [...records];
  const { meta, runs } = recordedSession(all);
  let model = new ReplayLLM([]);
  let decided: readonly RecordedCall[] = [];
  const session = await options.agent.createSession({
    createLLM: () => ({ streamGenerate: (parameters) => model.streamGenerate(parameters) }),
    ...(!options.ownHooks && { hooks: recordedHooks(() => decided) }),
    provider: "replay",
    modelId: meta.model_id,
    vision: recordedVision(all),
    source: options.source ?? "replay",
    // The record ends where it ended, whatever the agent's limit is today.
    maxTurns: 0,
    ...(options.workspaceDir !== undefined && { workspaceDir: options.workspaceDir }),
  });
  const outcomes: RunOutcome[] = [];
  const calls: ReplayedCall[] = [];
  const problems: string[] = [];
  try {
    const move = { from: await namesOf(meta.workspace), to: session.workspaceDir };
    const normalise = normalisers(meta, session.meta, move, options.ignore);
    for (const [i, { input, records: recorded }] of runs.entries()) {
      const here = relocated(recorded, move);
      model = new ReplayLLM(here, options);
      decided = recordedCalls(here);
      const messages = input.map((payload) => modelMessage(payload));
      options.onRun?.({ session, input: messages });
      const { outcome, streamed } = yield* run(session, messages, approvalOf(here, move, options), options);
      outcomes.push(outcome);
      if (options.signal?.aborted) problems.push(`run ${i + 1} of ${runs.length} was interrupted`);
      else problems.push(...endProblems(recorded, outcome, model.remaining).map((what) => `run ${i + 1}: ${what}`));
      calls.push(...(await compareCalls(recordedCalls(recorded), recordedCalls(streamed), normalise)));
      if (options.signal?.aborted) break;
    }
  } finally {
    await session.dispose();
  }
  return {
    sessionId: session.sessionId,
    recordedSessionId: meta.session_id,
    workspaceDir: session.workspaceDir,
    traceFile: session.traceFile,
    outcomes,
    calls,
    problems,
    equal: problems.length === 0 && calls.every(({ difference }) => difference === undefined),
  };
}

function recordedSession(records: readonly OmniMessage[]): { meta: SessionMetaPayload; runs: readonly RecordedRun[] } {
  const head = records.filter((record) => isOmniMessage(record)).find(isSessionMeta);
  const runs = recordedRuns(records);
  const isAnswered = runs.some(({ records: run }) => recordedRequests(run).length > 0);
  if (head !== undefined && isAnswered) return { meta: head.payload, runs };
  const what =
    head === undefined
      ? "no session_meta, with which every trace begins"
      : runs.length === 0
        ? "no input, so that nothing was run"
        : "no whole reply of a model, so that there is nothing to play";
  throw new RookeryError("trace-corrupt", `the records cannot be replayed: they hold ${what}`, {
    hint: "give all records of a session, as its trace or rookery sessions export has them",
  });
}

function approvalOf(records: readonly OmniMessage[], move: Move, { restrict }: ReplayOptions): ApproveFn {
  const isUnanswered = records.some(
    (message) => isType(message, "abort") && message.payload.code === "approval-unanswered",
  );
  return recordedApproval(recordedCalls(records), { move, isUnanswered, restrict });
}

async function* run(
  session: Session,
  input: readonly OmniMessage[],
  approve: ApproveFn,
  { signal }: ReplayOptions,
): AsyncGenerator<OmniMessage, { outcome: RunOutcome; streamed: readonly OmniMessage[] }> {
  const streamed: OmniMessage[] = [];
  const messages = session.run(input, { approve, backgroundNotices: "hold", ...(signal && { signal }) });
  for (;;) {
    const step = await messages.next();
    if (step.done) return { outcome: step.value, streamed };
    if (!isPartialPayload(step.value.payload)) streamed.push(step.value);
    yield step.value;
  }
}

/** A directory as it was given, and as the system names it where it is here. */
async function namesOf(directory: string): Promise<string[]> {
  return [...new Set([directory, await realpath(directory).catch(() => directory)])];
}

function normalisers(
  recorded: SessionMetaPayload,
  replayed: SessionMetaPayload,
  { from, to }: Move,
  ignore: readonly RegExp[] | undefined,
): Normalisers {
  const surroundings = (meta: SessionMetaPayload, workspaceDirs: readonly string[]) => ({
    workspaceDirs,
    agentDir: dirname(meta.agent_state),
  });
  return {
    recorded: outputNormaliser(surroundings(recorded, from), ignore),
    // Where a path of one name stands for something else, it stands in both outputs.
    replayed: outputNormaliser(surroundings(replayed, [to, ...from.filter(isWord)]), ignore),
  };
}

/** What is not as it was about the end of a run. */
function endProblems(recorded: readonly OmniMessage[], { status, message }: RunOutcome, remaining: number): string[] {
  const problems: string[] = [];
  if (remaining > 0)
    problems.push(`${remaining} recorded ${remaining === 1 ? "request was" : "requests were"} not made`);
  if (hadCompleted(recorded) && status !== "completed") {
    problems.push(`it ended ${status}${message === undefined ? "" : ` (${message})`} and had not when it was recorded`);
  }
  return problems;
}

/** True unless it was interrupted, failed, or was killed with its process. */
function hadCompleted(recorded: readonly OmniMessage[]): boolean {
  if (recorded.some((message) => isType(message, "abort"))) return false;
  const last = recordedRequests(recorded).at(-1);
  if (last === undefined) return false;
  const lastCalls = last.said.filter(({ type }) => type === "tool_call").length;
  const calls = recordedCalls(recorded);
  return calls.slice(calls.length - lastCalls).every(({ output }) => output?.terminate === true);
}
