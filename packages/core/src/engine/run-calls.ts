import type { CallAssessment } from "../approval/contract.ts";
import type { ToolExecutionRequest } from "../environment/contract.ts";
import { errorText } from "../errors/error-text.ts";
import { eventMessage } from "../omnimessage/build.ts";
import type { EventPayload, OmniMessage, ToolCallOutputPayload, ToolCallPayload } from "../omnimessage/message.ts";
import { assessCall } from "./assess-call.ts";
import { applyBeforeHooks } from "./before-hooks.ts";
import { type CallDecision, decideCall } from "./decide-call.ts";
import type { Run, ToolSide } from "./engine.ts";
import { executeCall } from "./execute-call.ts";
import { isTimeout } from "./interruption.ts";
import { engineOutput, wholeOutput } from "./stream-output.ts";

/** A refused call, for the run's outcome. */
export interface Denial {
  readonly tool: string;
  readonly reason: string;
  /** Nobody was there to answer. */
  readonly unanswered: boolean;
}

/**
 * The calls of one reply: decided one at a time in their order, run side by side.
 *
 * A `sequential` call starts when every earlier one has its output, and later ones wait for it. A call that would write
 * a file which a running call writes waits for that one; what waited is assessed again, since the world has changed.
 */
export class CallBatch {
  readonly #tools: ToolSide;
  readonly #run: Run;
  readonly #calls: OmniMessage<ToolCallPayload>[] = [];
  readonly #outputs = new Map<string, OmniMessage<ToolCallOutputPayload>>();
  readonly #running = new Map<string, { writes: readonly string[]; done: Promise<void> }>();
  readonly #decided = new Set<string>();
  /** Fires when the run is interrupted and when the reply broke off. */
  readonly #stop = new AbortController();
  readonly #interrupt = (): void => this.#stop.abort(this.#run.signal.reason);
  #isCutOff = false;
  #gate: Promise<void> = Promise.resolve();
  readonly denials: Denial[] = [];

  constructor(tools: ToolSide, run: Run) {
    this.#tools = tools;
    this.#run = run;
    if (run.signal.aborted) this.#interrupt();
    else run.signal.addEventListener("abort", this.#interrupt, { once: true });
  }

  /** The call may start as soon as its turn has come. */
  start(call: OmniMessage<ToolCallPayload>): void {
    this.#calls.push(call);
    this.#gate = this.#gate.then(() => this.#admit(call));
  }

  /** The reply broke off: calls that have not begun will not. */
  cutOff(): void {
    this.#isCutOff = true;
    this.#stop.abort();
  }

  /**
   * Resolves when nothing of the batch runs any more. After an interruption, calls of a committed reply that have no
   * output get one that says so.
   *
   * @param committed - Whether the reply became part of the history.
   * @returns The outputs in the order of the calls.
   */
  async settle(committed: boolean): Promise<OmniMessage<ToolCallOutputPayload>[]> {
    await this.#gate;
    await Promise.all([...this.#running.values()].map((call) => call.done));
    this.#run.signal.removeEventListener("abort", this.#interrupt);
    if (committed) {
      for (const call of this.#calls) await this.#answerInterrupted(call);
    }
    return this.#calls.flatMap((call) => this.#outputs.get(call.payload.tool_call_id) ?? []);
  }

  get #stopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #admit(call: OmniMessage<ToolCallPayload>): Promise<void> {
    if (this.#stopped) return;
    try {
      await this.#decideAndStart(call);
    } catch (error) {
      await this.#answerFailure(call, error);
    }
  }

  async #decideAndStart(call: OmniMessage<ToolCallPayload>): Promise<void> {
    const gate = { ...this.#run, signal: this.#stop.signal };
    let assessment = await this.#assessInTurn(call);
    if (this.#stopped) return;
    const hooked = await applyBeforeHooks(this.#tools, gate, call, assessment);
    if (hooked.replaced !== undefined) assessment = await this.#assessInTurn(hooked.toolCall);
    const decision = await decideCall(this.#tools, gate, hooked, assessment);
    await this.#announce(call, decision.event);
    if (this.#isCutOff) return;
    if (decision.refusal) return this.#refuse(call, decision, decision.refusal);
    if (this.#run.signal.aborted) return;
    const args = hooked.replaced !== undefined && { args: assessment.args ?? {} };
    const done = this.#execute(call, { toolCall: hooked.toolCall, assessment, ...args });
    this.#running.set(call.payload.tool_call_id, { writes: assessment.paths?.write ?? [], done });
    if (this.#isSequential(assessment)) await done;
  }

  /** Assesses a call when nothing that it must wait for is running. */
  async #assessInTurn(call: OmniMessage<ToolCallPayload>): Promise<CallAssessment> {
    for (;;) {
      const assessment = await assessCall(this.#tools, call, this.#run.signal);
      const before = this.#isSequential(assessment)
        ? [...this.#running.values()].map((running) => running.done)
        : this.#conflicts(assessment.paths?.write ?? []);
      if (before.length === 0 || this.#stopped) return assessment;
      await Promise.all(before);
    }
  }

  #conflicts(writes: readonly string[]): Promise<void>[] {
    return [...this.#running.values()]
      .filter((running) => running.writes.some((path) => writes.includes(path)))
      .map((running) => running.done);
  }

  #isSequential(assessment: CallAssessment): boolean {
    return this.#tools.toolExecution === "sequential" || assessment.executionMode === "sequential";
  }

  async #execute(call: OmniMessage<ToolCallPayload>, request: ToolExecutionRequest): Promise<void> {
    const { signal, approve } = this.#run;
    const id = call.payload.tool_call_id;
    try {
      const complete = { ...request, signal, ...(approve && { approve }) };
      this.#outputs.set(id, await executeCall(this.#tools, this.#run, complete));
    } catch (error) {
      await this.#answerFailure(call, error);
    } finally {
      this.#running.delete(id);
    }
  }

  async #announce(call: OmniMessage<ToolCallPayload>, event: EventPayload<"approval_decision">): Promise<void> {
    this.#decided.add(call.payload.tool_call_id);
    await this.#run.emit(eventMessage(event));
  }

  async #refuse(
    call: OmniMessage<ToolCallPayload>,
    { event, unanswered }: CallDecision,
    { output, stopReason }: NonNullable<CallDecision["refusal"]>,
  ): Promise<void> {
    if (event.decision !== "allow") {
      const reason = event.reason ?? `denied by ${event.decided_by ?? "user"}`;
      this.denials.push({ tool: call.payload.name, reason, unanswered: unanswered === true });
    }
    await this.#emitOutput(engineOutput(call.payload.tool_call_id, output, stopReason));
  }

  /** An implementation broke its contract around this call: the model reads what happened. */
  async #answerFailure(call: OmniMessage<ToolCallPayload>, error: unknown): Promise<void> {
    const id = call.payload.tool_call_id;
    if (this.#outputs.has(id)) return;
    if (!this.#decided.has(id)) await this.#announce(call, ownDecision(id, "the call could not be decided"));
    await this.#emitOutput(engineOutput(id, `[tool error] ${errorText(error)}`, "failed"));
  }

  async #answerInterrupted(call: OmniMessage<ToolCallPayload>): Promise<void> {
    const id = call.payload.tool_call_id;
    if (this.#outputs.has(id)) return;
    if (!this.#decided.has(id)) await this.#announce(call, ownDecision(id, "it was interrupted before it was decided"));
    const why = isTimeout(this.#run.signal) ? "time limit reached" : "tool aborted by user";
    await this.#emitOutput(engineOutput(id, `[interrupted: ${why}]`, "aborted"));
  }

  async #emitOutput(output: OmniMessage<ToolCallOutputPayload>): Promise<void> {
    this.#outputs.set(output.payload.tool_call_id, output);
    for (const message of wholeOutput(output)) await this.#run.emit(message);
  }
}

/** A denial that nobody decided. */
function ownDecision(toolCallId: string, reason: string): EventPayload<"approval_decision"> {
  return { type: "approval_decision", tool_call_id: toolCallId, decision: "deny", decided_by: "default", reason };
}
