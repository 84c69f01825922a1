import type { ApproveFn, CallAssessment, VetoFn } from "../approval/contract.ts";
import type { EnvironmentInterface, OnWarning } from "../environment/contract.ts";
import type { LLMInterface, ThinkingLevelName } from "../llm/contract.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import type { RunNotices } from "./background-notices.ts";
import type { CompactionPlan } from "./compaction/settings.ts";
import type { ContextLog } from "./context-log.ts";
import type { Hooks } from "./hooks.ts";
import type { InputQueue } from "./input-queue.ts";
import type { Reconnector } from "./reconnect.ts";
import type { Spending } from "./run-outcome.ts";
import type { ToolOffer } from "./tool-offer.ts";

/** What it takes to decide on calls and run them. */
export interface ToolSide {
  readonly environment: EnvironmentInterface;
  readonly hooks: Hooks;
  readonly veto: VetoFn;
  readonly toolExecution: "parallel" | "sequential";
  readonly workspaceDir: string;
  readonly offer: ToolOffer;
  readonly onWarning: OnWarning;
  /** Waited for before an allowed call runs; never rejects. Absent: nothing has to be done. */
  readonly beforeExecution?: (assessment: CallAssessment) => Promise<void>;
}

/** The parts that every run of one model context works with. */
export interface Engine extends ToolSide {
  readonly llm: LLMInterface;
  readonly log: ContextLog;
  readonly reconnector: Reconnector;
  readonly compaction: CompactionPlan;
  /** What the system prompt and the tools take of each request, roughly. */
  fixedTokens(): number;
  /** The same model anew. */
  readonly ownModel: NamedModel;
  /** Who summarises; absent: the model itself. */
  readonly summaryModel?: NamedModel;
  /** Goes on in a new context of these messages, on record before its first request. */
  startContext(carried: readonly OmniMessage[]): StartedContext;
}

/** What came of starting a context. */
export interface StartedContext {
  /** Without a record it is on the context before, as if nothing had been said to replace it. */
  readonly engine: Engine;
  readonly isOnRecord: boolean;
}

/** A model that can be opened on a history. */
export interface NamedModel {
  /** `PROVIDER/MODEL_ID`. */
  readonly name: string;
  readonly open: (history: readonly OmniMessage[]) => LLMInterface;
}

/** One run: where its messages go, what ends it, and who decides. */
export interface Run {
  /** Records a message, then shows it; to be awaited, since a slow reader slows the run. */
  readonly emit: (message: OmniMessage) => void | Promise<void>;
  readonly signal: AbortSignal;
  readonly approve?: ApproveFn;
  readonly thinkingLevel?: ThinkingLevelName;
}

/** A run that can be spoken to while it goes on. */
export interface TaskRun extends Run {
  readonly queue: InputQueue;
  readonly notices: RunNotices;
  /** What a task that took so much must be told again to go on in a new context; absent: nothing. */
  readonly remind?: (log: ContextLog, spent: Spending) => OmniMessage | undefined;
  /** Records a message that is not shown. */
  readonly record: (message: OmniMessage) => void;
}
