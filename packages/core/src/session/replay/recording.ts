import { isInput } from "../../engine/next-input.ts";
import { describeImage } from "../../environment/tools/describe-image.ts";
import { readImage } from "../../environment/tools/read-image.ts";
import { isCompleteModelMessage, isSessionMeta, isType } from "../../omnimessage/guards.ts";
import type {
  CompletePayload,
  EventPayload,
  FinishReason,
  OmniMessage,
  ToolCallOutputPayload,
  ToolCallPayload,
} from "../../omnimessage/message.ts";
import { isOmniMessage } from "../../omnimessage/validate.ts";

/** A request that was committed: what the model said, in order. */
export interface RecordedRequest {
  readonly said: readonly CompletePayload[];
  readonly usage: EventPayload<"token_usage"> | undefined;
  readonly finishReason: FinishReason | undefined;
}

/** A call of a committed request, and what became of it. */
export interface RecordedCall {
  readonly call: ToolCallPayload;
  /** Absent where the process died before the decision, or the output. */
  readonly decision?: EventPayload<"approval_decision">;
  readonly output?: ToolCallOutputPayload;
}

/** What one `session.run` was given, and the records that followed. */
export interface RecordedRun {
  readonly input: readonly CompletePayload[];
  readonly records: readonly OmniMessage[];
}

/**
 * The runs of a session, in order: each begins with its input and goes on to the next one's.
 *
 * @param records - Of all its contexts, one after another.
 */
export function recordedRuns(records: Iterable<OmniMessage>): RecordedRun[] {
  const runs: { input: CompletePayload[]; records: OmniMessage[] }[] = [];
  let isOpen = false;
  for (const message of ownRecords(records)) {
    if (isInput(message) && isCompleteModelMessage(message)) {
      if (!isOpen) runs.push({ input: [], records: [] });
      runs.at(-1)?.input.push(message.payload);
      isOpen = true;
    } else {
      isOpen = false;
      runs.at(-1)?.records.push(message);
    }
  }
  return runs;
}

/** Whether the model saw images, by the tools it was offered; the record does not say it otherwise. */
export function recordedVision(records: Iterable<OmniMessage>): boolean | "unknown" {
  for (const message of records) {
    if (!isType(message, "tool_list_ready")) continue;
    const names = new Set(message.payload.tools.map(({ name }) => name));
    const [sees, isTold] = [names.has(readImage.definition.name), names.has(describeImage.definition.name)];
    if (sees !== isTold) return sees;
  }
  return "unknown";
}

/** The committed requests of a session or of one run, in order; see {@link ownRecords}. */
export function recordedRequests(records: Iterable<OmniMessage>, options: OwnRecordsOptions = {}): RecordedRequest[] {
  const requests: RecordedRequest[] = [];
  let said: CompletePayload[] | undefined;
  let usage: EventPayload<"token_usage"> | undefined;
  for (const message of ownRecords(records, options)) {
    if (isType(message, "request_begin")) {
      said = [];
      usage = undefined;
    } else if (isType(message, "request_end")) {
      const { status, finish_reason: finishReason } = message.payload;
      if (said && status === "completed") requests.push({ said, usage, finishReason });
      said = undefined;
    } else if (isType(message, "token_usage")) {
      if (message.payload.source === undefined) usage = message.payload;
    } else if (isCompleteModelMessage(message) && !isType(message, "tool_call_output") && !isInput(message)) {
      said?.push(message.payload);
    }
  }
  return requests;
}

/** The calls of a run's committed requests in their order, each with the decision and the output that follow it. */
export function recordedCalls(records: Iterable<OmniMessage>): RecordedCall[] {
  const committed: Writable<RecordedCall>[] = [];
  let open: Writable<RecordedCall>[] = [];
  // An id may come twice where a model gives its own; what follows belongs to the latest call of that id.
  const latest = new Map<string, Writable<RecordedCall>>();
  for (const message of ownRecords(records)) {
    if (isType(message, "request_begin")) open = [];
    else if (isType(message, "tool_call")) {
      const call = { call: message.payload };
      latest.set(message.payload.tool_call_id, call);
      open.push(call);
    } else if (isType(message, "approval_decision")) {
      const call = latest.get(message.payload.tool_call_id);
      if (call) call.decision = message.payload;
    } else if (isType(message, "tool_call_output")) {
      const call = latest.get(message.payload.tool_call_id);
      if (call) call.output = message.payload;
    } else if (isType(message, "request_end")) {
      if (message.payload.status === "completed") committed.push(...open);
      open = [];
    }
  }
  return committed;
}

interface OwnRecordsOptions {
  /** Whether what lies inside compactions counts; default false. */
  readonly compactions?: boolean;
}

/**
 * What a session itself lived through, over all of its contexts: without the heads and the history that a later context
 * carried over, without child sessions, and without what is no message.
 */
function* ownRecords(
  records: Iterable<OmniMessage>,
  { compactions = false }: OwnRecordsOptions = {},
): Generator<OmniMessage> {
  let session: string | undefined;
  let isOwn = true;
  let carried = 0;
  let isCompacting = false;
  for (const message of records) {
    if (!isOmniMessage(message) || message.origin !== undefined) continue;
    if (isSessionMeta(message)) {
      session ??= message.payload.session_id;
      isOwn = message.payload.session_id === session;
      carried = message.payload.carried ?? 0;
      isCompacting = false;
    } else if (carried > 0) {
      carried -= 1;
    } else if (isOwn) {
      if (isType(message, "compaction_end")) isCompacting = false;
      if (compactions || !isCompacting) yield message;
      if (isType(message, "compaction_begin")) isCompacting = true;
    }
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
