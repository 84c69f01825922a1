import type { CompactionPlan } from "../engine/compaction/settings.ts";
import { ContextLog } from "../engine/context-log.ts";
import type { Engine, NamedModel, Run, StartedContext, ToolSide } from "../engine/engine.ts";
import { INTERRUPTED, unlessAborted } from "../engine/interruption.ts";
import { Reconnector } from "../engine/reconnect.ts";
import type { TaskEnd } from "../engine/run-outcome.ts";
import { interruption } from "../engine/run-turn.ts";
import { errorText } from "../errors/error-text.ts";
import type { LLMInterface } from "../llm/contract.ts";
import { sessionMetaMessage } from "../omnimessage/build.ts";
import { estimateTokens } from "../omnimessage/estimate-tokens.ts";
import type { OmniMessage, SessionMetaPayload, TokenCounts, ToolDefinition } from "../omnimessage/message.ts";
import { connectSources } from "./connect-sources.ts";
import type { SessionRecord } from "./session-record.ts";

/** What a model of a session is made from beside what is fixed. */
export interface ModelStart {
  /** The tools it is offered at first. */
  readonly tools: readonly ToolDefinition[];
  readonly history: readonly OmniMessage[];
  /** What the session took so far; absent: nothing. */
  readonly sessionUsage?: TokenCounts;
}

/** What a model context is opened from. */
export interface ModelContextParts {
  readonly meta: SessionMetaPayload;
  readonly tools: ToolSide;
  readonly record: SessionRecord;
  readonly log: ContextLog;
  readonly compaction: CompactionPlan;
  /** What the session had taken when it was opened; absent: nothing. */
  readonly sessionUsage?: TokenCounts | undefined;
  readonly createModel: (start: ModelStart) => LLMInterface;
  /** Makes the model that summarises, where that is another one; it is offered no tools. */
  readonly summaryModel?: NamedModel;
}

/** The model, the tools and the engine between them, put together when the first run needs them. */
export class ModelContext {
  readonly #parts: ModelContextParts;
  readonly #reconnector = new Reconnector();
  #engine: Engine | undefined;

  constructor(parts: ModelContextParts) {
    this.#parts = parts;
  }

  /** What the record says of the context as it is now. */
  get log(): ContextLog {
    return this.#engine?.log ?? this.#parts.log;
  }

  /** The engine; or how the run ends, when it was interrupted meanwhile or the model could not be made. */
  async open(run: Run): Promise<{ readonly engine: Engine } | TaskEnd> {
    if (this.#engine) return { engine: this.#engine };
    const { tools, log } = this.#parts;
    await connectSources(tools, run);
    if (run.signal.aborted) return interruption(run.signal);
    try {
      const listed = await unlessAborted(tools.environment.listTools(), run.signal);
      if (listed === INTERRUPTED) return interruption(run.signal);
      return { engine: this.#engineOn(log, tools.offer.select(listed)) };
    } catch (error) {
      return { status: "failed", message: `the model could not be set up: ${errorText(error)}` };
    }
  }

  skipReconnectWait(): boolean {
    return this.#reconnector.skip();
  }

  /** Ends every process of the tools; may be called twice. */
  async dispose(): Promise<void> {
    try {
      await this.#parts.tools.environment.dispose?.();
    } catch (error) {
      const message = `the tools were not shut down cleanly: ${errorText(error)}`;
      this.#parts.tools.onWarning({ code: "dispose-failed", message });
    }
  }

  #engineOn(log: ContextLog, offered: readonly ToolDefinition[]): Engine {
    const { meta, tools, compaction, summaryModel } = this.#parts;
    const name = `${meta.provider}/${meta.model_id}`;
    this.#engine = {
      ...tools,
      llm: this.#openModel(log.history, offered),
      log,
      reconnector: this.#reconnector,
      compaction,
      fixedTokens: () => estimateTokens(meta.system_prompt) + estimateTokens(JSON.stringify(tools.offer.tools)),
      ownModel: { name, open: (history) => this.#openModel(history, tools.offer.tools) },
      ...(summaryModel && { summaryModel }),
      startContext: (carried) => this.#startContext(carried, log),
    };
    return this.#engine;
  }

  #openModel(history: readonly OmniMessage[], tools: readonly ToolDefinition[]): LLMInterface {
    const { createModel, record } = this.#parts;
    const sessionUsage = record.sessionUsage ?? this.#parts.sessionUsage;
    return createModel({ tools, history: [...history], ...(sessionUsage && { sessionUsage }) });
  }

  /** The model has heard of the summary either way: without a file for the next context it is made anew, too. */
  #startContext(carried: readonly OmniMessage[], before: ContextLog): StartedContext {
    const { meta, record, tools } = this.#parts;
    const { format: _, ...same } = meta;
    const next = new ContextLog(carried);
    const isOnRecord = record.startContext(sessionMetaMessage({ ...same, carried: carried.length }), carried, next);
    if (isOnRecord) tools.offer.announceAgain();
    return { engine: this.#engineOn(isOnRecord ? next : before, tools.offer.tools), isOnRecord };
  }
}
