import type { ToolExecutionRequest } from "../environment/contract.ts";
import { errorText } from "../errors/error-text.ts";
import { eventMessage } from "../omnimessage/build.ts";
import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage, ToolCallOutputPayload } from "../omnimessage/message.ts";
import { toolSpending } from "../omnimessage/token-counts.ts";
import type { Run, ToolSide } from "./engine.ts";
import { applyAfterHooks, type HookedCall, hasAfterHooks } from "./hooks.ts";
import { INTERRUPTED, Patience } from "./interruption.ts";
import { engineOutput, outputFragment, wholeOutput } from "./stream-output.ts";

/** How long an environment that ignores the signal may go on; its own patience with its tools is shorter. */
const ABANDON_AFTER_MS = 10_000;

/**
 * Runs one allowed call and shows its output as it comes; with an `afterToolCall` hook, once the hook has answered.
 *
 * Whatever the environment does, the call ends with exactly one legal output: one that throws, ends early, says too much
 * or never comes back after an interruption is brought into form here.
 *
 * @returns The complete output, as it was recorded.
 */
export async function executeCall(
  tools: ToolSide,
  run: Run,
  request: ToolExecutionRequest,
): Promise<OmniMessage<ToolCallOutputPayload>> {
  const hooked = hasAfterHooks(tools.hooks);
  const output = new OutputGuard(request.toolCall.payload.tool_call_id);
  await drive(tools, run, request, async (message) => {
    for (const legal of output.take(message)) {
      if (!hooked || isSideMessage(legal)) await run.emit(legal);
    }
  }).catch((error: unknown) => {
    if (!output.complete) return output.fail(`[tool error] ${errorText(error)}`);
    tools.onWarning({ code: "tool-error", message: `a tool failed after its output: ${errorText(error)}` });
  });
  const rest = output.finish();
  if (!hooked) {
    await show(run, rest, output.result);
    return output.result;
  }
  const call: HookedCall = {
    toolCall: request.toolCall.payload,
    args: request.args ?? request.assessment?.args ?? {},
  };
  const result = await applyAfterHooks(tools.hooks, call, output.result, run.signal, (error) => {
    tools.onWarning({ code: "hook-failed", message: `an afterToolCall hook failed: ${errorText(error)}` });
  });
  await show(run, wholeOutput(result), result);
  return result;
}

/** Shows the last of an output, and what the tool spent. */
async function show(
  run: Run,
  messages: readonly OmniMessage[],
  { payload: { usage } }: OmniMessage<ToolCallOutputPayload>,
): Promise<void> {
  for (const message of messages) await run.emit(message);
  if (usage) await run.emit(eventMessage(toolSpending(usage)));
}

/** Hands on what the environment says until it ends, or is left behind. */
async function drive(
  tools: ToolSide,
  { signal }: Run,
  request: ToolExecutionRequest,
  take: (message: OmniMessage) => Promise<void>,
): Promise<void> {
  if (request.assessment) await tools.beforeExecution?.(request.assessment);
  const patience = new Patience(signal, ABANDON_AFTER_MS);
  try {
    const execution = tools.environment.executeTool(request);
    for (;;) {
      const step = await patience.waitFor(execution.next());
      if (step === INTERRUPTED) {
        execution.return(undefined).catch(() => undefined);
        throw new Error("interrupted; the environment did not stop, its effect is unknown");
      }
      if (step.done) return;
      await take(step.value);
    }
  } finally {
    patience.dispose();
  }
}

/** What is not the output itself: a child's messages and progress. */
function isSideMessage(message: OmniMessage): boolean {
  return message.origin !== undefined || message.type === "event_msg";
}

/** What a tool may tell of itself; every other event is the engine's to say. */
export function isToolEvent(message: OmniMessage): boolean {
  if (isType(message, "token_usage")) return message.payload.source !== undefined;
  return isType(message, "tool_progress") || isType(message, "subagent");
}

/** Lets through what one call may say and completes what is missing. */
class OutputGuard {
  readonly #id: string;
  #open = false;
  #shown = "";
  #imagesShown = false;
  #complete: OmniMessage<ToolCallOutputPayload> | undefined;
  #failure: string | undefined;

  constructor(toolCallId: string) {
    this.#id = toolCallId;
  }

  get complete(): boolean {
    return this.#complete !== undefined;
  }

  /** The complete output; only after `finish`. */
  get result(): OmniMessage<ToolCallOutputPayload> {
    if (!this.#complete) throw new TypeError("the output is not finished");
    return this.#complete;
  }

  take(message: OmniMessage): OmniMessage[] {
    if (message.origin !== undefined) return [message];
    if (message.type === "event_msg") return isToolEvent(message) ? [message] : [];
    if (this.#complete) return [];
    if (isType(message, "tool_call_output") && message.payload.tool_call_id === this.#id) {
      this.#complete = message;
      return this.#open ? this.#close(message) : wholeOutput(message);
    }
    if (!isType(message, "partial_tool_call_output") || message.payload.tool_call_id !== this.#id) return [];
    const { event_type, output } = message.payload;
    // The stop is held back: what the complete message says decides how the segment ends.
    if (event_type === "stop" || (event_type === "start" && this.#open)) return [];
    const opening = !this.#open && event_type === "delta" ? [outputFragment(message.payload, "start")] : [];
    this.#open = true;
    this.#shown += output;
    this.#imagesShown ||= (message.payload.images?.length ?? 0) > 0;
    return [...opening, message];
  }

  fail(text: string): void {
    this.#failure = text;
  }

  /** What is still to be said: nothing, if the call ended as it should. */
  finish(): OmniMessage[] {
    if (this.#complete) return [];
    const text = this.#failure ?? "[tool error] the tool ended without an output";
    const glue = this.#shown === "" || this.#shown.endsWith("\n") ? "" : "\n";
    this.#complete = engineOutput(this.#id, this.#shown + glue + text, "failed");
    return this.#open ? this.#close(this.#complete) : wholeOutput(this.#complete);
  }

  /** The end of an open segment: what was not shown yet, the stop, the complete message. */
  #close(said: OmniMessage<ToolCallOutputPayload>): OmniMessage[] {
    const { payload } = said;
    const output = payload.output.startsWith(this.#shown) ? payload.output : `${this.#shown}\n${payload.output}`;
    const complete = { ...said, payload: { ...payload, output } };
    this.#complete = complete;
    const missing = output.slice(this.#shown.length);
    const images = this.#imagesShown ? [] : (payload.images ?? []);
    return [
      ...(missing !== "" || images.length > 0 ? [outputFragment(complete.payload, "delta", missing, images)] : []),
      outputFragment(complete.payload, "stop"),
      complete,
    ];
  }
}
