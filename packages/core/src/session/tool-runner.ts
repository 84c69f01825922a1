import { randomBytes } from "node:crypto";
import type { ApproveFn } from "../approval/contract.ts";
import type { Run, ToolSide } from "../engine/engine.ts";
import { MessageQueue } from "../engine/message-queue.ts";
import { oneAtATime } from "../engine/one-at-a-time.ts";
import { CallBatch } from "../engine/run-calls.ts";
import type { ToolDefinitionConfig } from "../environment/contract.ts";
import { modelMessage } from "../omnimessage/build.ts";
import type { OmniMessage, ToolDefinition } from "../omnimessage/message.ts";
import { interruptible } from "./interruptible.ts";

/** A tool and, of a built-in one, what else configuration says of it: limits and for which models it is. */
export type ListedTool = ToolDefinition & Omit<ToolDefinitionConfig, keyof ToolDefinition>;

/** Runs single tools through the real environment, with no model and no record. */
export class ToolRunner {
  readonly #tools: ToolSide;
  readonly #definitions: readonly ToolDefinitionConfig[];
  readonly #onDisposed: (runner: ToolRunner) => void;
  readonly #calls = new Set<{ readonly ended: Promise<unknown>; interrupt(): void }>();

  /** @param definitions - Of built-in tools, as configuration writes them. */
  constructor(
    tools: ToolSide,
    definitions: readonly ToolDefinitionConfig[],
    onDisposed: (runner: ToolRunner) => void = () => undefined,
  ) {
    this.#tools = tools;
    this.#definitions = definitions;
    this.#onDisposed = onDisposed;
  }

  /** The tools that can be called, as a model is offered them; built-in ones with the other fields of their definitions. */
  async listTools(): Promise<ListedTool[]> {
    const tools = await this.#tools.environment.listTools();
    return tools.map((tool) => ({ ...this.#definitions.find(({ name }) => name === tool.name), ...tool }));
  }

  /**
   * Makes one call as a model would: it is assessed, hooks see it, and `approve` decides; absent, it is denied.
   *
   * @param argumentsJson - The arguments as one JSON object; anything else is answered as it would be to a model.
   * @returns A generator of the call, the decision, and the output, complete at its end.
   */
  call(
    name: string,
    argumentsJson: string,
    options: { readonly approve?: ApproveFn; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<OmniMessage, void> {
    const left = new AbortController();
    return interruptible(this.#call(name, argumentsJson, options, left), () => left.abort());
  }

  /** Interrupts what runs and ends every process; may be called twice. */
  async dispose(): Promise<void> {
    for (const call of this.#calls) call.interrupt();
    await Promise.all([...this.#calls].map((call) => call.ended));
    await this.#tools.environment.dispose?.();
    this.#onDisposed(this);
  }

  async *#call(
    name: string,
    argumentsJson: string,
    { approve, signal }: { readonly approve?: ApproveFn; readonly signal?: AbortSignal },
    left: AbortController,
  ): AsyncGenerator<OmniMessage, void> {
    const queue = new MessageQueue();
    const run: Run = {
      ...(approve && { approve: oneAtATime(approve) }),
      signal: signal ? AbortSignal.any([signal, left.signal]) : left.signal,
      emit: (message) => queue.push(message),
    };
    const done = this.#drive(run, name, argumentsJson).finally(() => queue.close());
    const call = { ended: done.catch(() => undefined), interrupt: () => left.abort() };
    this.#calls.add(call);
    left.signal.addEventListener("abort", () => queue.stopWaiting(), { once: true });
    try {
      for (let ready = await queue.take(); ready !== undefined; ready = await queue.take()) yield* ready;
      await done;
    } finally {
      left.abort();
      queue.discard();
      await call.ended;
      this.#calls.delete(call);
    }
  }

  async #drive(run: Run, name: string, argumentsJson: string): Promise<void> {
    this.#tools.offer.update((await this.#tools.environment.listTools()).map(({ hidden: _, ...tool }) => tool));
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
