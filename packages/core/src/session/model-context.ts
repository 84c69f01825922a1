import type { ContextLog } from "../engine/context-log.ts";
import type { Engine, Run, ToolSide } from "../engine/engine.ts";
import { INTERRUPTED, unlessAborted } from "../engine/interruption.ts";
import { Reconnector } from "../engine/reconnect.ts";
import type { TaskEnd } from "../engine/run-outcome.ts";
import { interruption } from "../engine/run-turn.ts";
import { errorText } from "../errors/error-text.ts";
import type { LLMInterface } from "../llm/contract.ts";
import type { ToolDefinition } from "../omnimessage/message.ts";
import { connectSources } from "./connect-sources.ts";

/** What a model context is opened from. */
export interface ModelContextParts {
  readonly tools: ToolSide;
  readonly log: ContextLog;
  /** Makes the model, given the tools it is offered at first. */
  readonly createModel: (tools: readonly ToolDefinition[]) => LLMInterface;
}

/** The model, the tools and the engine between them, put together when the first run needs them. */
export class ModelContext {
  readonly #parts: ModelContextParts;
  readonly #reconnector = new Reconnector();
  #engine: Engine | undefined;

  constructor(parts: ModelContextParts) {
    this.#parts = parts;
  }

  /** The engine; or how the run ends, when it was interrupted meanwhile or the model could not be made. */
  async open(run: Run): Promise<{ readonly engine: Engine } | TaskEnd> {
    if (this.#engine) return { engine: this.#engine };
    const { tools, log, createModel } = this.#parts;
    await connectSources(tools, run);
    if (run.signal.aborted) return interruption(run.signal);
    try {
      const listed = await unlessAborted(tools.environment.listTools(), run.signal);
      if (listed === INTERRUPTED) return interruption(run.signal);
      const llm = createModel(tools.offer.select(listed));
      this.#engine = { ...tools, llm, log, reconnector: this.#reconnector };
      return { engine: this.#engine };
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
}
