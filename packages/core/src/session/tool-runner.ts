import { randomBytes } from "node:crypto";
import type { ApproveFn } from "../approval/contract.ts";
import type { Run, ToolSide } from "../engine/engine.ts";
import { MessageQueue } from "../engine/message-queue.ts";
import { CallBatch } from "../engine/run-calls.ts";
import { modelMessage } from "../omnimessage/build.ts";
import type { OmniMessage, ToolDefinition } from "../omnimessage/message.ts";

/** Runs single tools through the real environment, with no model and no record. */
export class ToolRunner {
  readonly #tools: ToolSide;

  constructor(tools: ToolSide) {
    this.#tools = tools;
  }

  /** The tools that can be called. */
  async listTools(): Promise<ToolDefinition[]> {
    return await this.#tools.environment.listTools();
  }

  /**
   * Makes one call as a model would: it is assessed, hooks see it, and `approve` decides; absent, it is denied.
   *
   * @param argumentsJson - The arguments as one JSON object; anything else is answered as it would be to a model.
   * @returns A generator of the call, the decision, and the output, complete at its end.
   */
  async *call(
    name: string,
    argumentsJson: string,
    options: { readonly approve?: ApproveFn; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<OmniMessage, void> {
    const queue = new MessageQueue();
    const stopped = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, stopped.signal]) : stopped.signal;
    const run: Run = { ...options, signal, emit: (message) => queue.push(message) };
    const done = this.#drive(run, name, argumentsJson).finally(() => queue.close());
    try {
      for (let ready = await queue.take(); ready !== undefined; ready = await queue.take()) yield* ready;
      await done;
    } finally {
      stopped.abort();
      queue.discard();
      await done.catch(() => undefined);
    }
  }

  /** Ends every process; may be called twice. */
  async dispose(): Promise<void> {
    await this.#tools.environment.dispose?.();
  }

  async #drive(run: Run, name: string, argumentsJson: string): Promise<void> {
    this.#tools.offer.update((await this.listTools()).map(({ hidden: _, ...tool }) => tool));
    const call = modelMessage({
      type: "tool_call",
      role: "assistant",
      name,
      arguments: argumentsJson,
      tool_call_id: `call_${randomBytes(8).toString("hex")}`,
    });
    await run.emit(call);
    const batch = new CallBatch(this.#tools, run);
    batch.start(call);
    await batch.settle(true);
  }
}
