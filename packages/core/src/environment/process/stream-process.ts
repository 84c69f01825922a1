import { eventMessage } from "../../omnimessage/build.ts";
import type { EventPayload, OmniMessage } from "../../omnimessage/message.ts";
import { outputDelta } from "../output-delta.ts";
import type { CommandOutput } from "./command-output.ts";
import type { RunningProcess } from "./run-process.ts";

/** Eight a second, so that with the last one, which waits for nothing, no second has more than ten. */
const PROGRESS_INTERVAL_MS = 125;

/**
 * What a process prints, as messages of a tool call: deltas of text that is final, as it comes, and `tool_progress` with
 * what a person would see now, at most ten times a second and at the end if there was anything new.
 */
export async function* streamProcess(
  running: RunningProcess,
  output: CommandOutput,
  toolCallId: string,
): AsyncGenerator<OmniMessage> {
  let hasNews = false;
  let progressDueAt = performance.now() + PROGRESS_INTERVAL_MS;
  let next = running.output.next();
  for (;;) {
    const step = await (hasNews ? within(next, progressDueAt - performance.now()) : next);
    if (step?.done) break;
    if (step !== undefined) {
      next = running.output.next();
      const text = output.push(step.value);
      if (text !== "") yield outputDelta(toolCallId, text);
      hasNews = true;
    }
    if (performance.now() >= progressDueAt) {
      yield progress(toolCallId, output);
      progressDueAt = performance.now() + PROGRESS_INTERVAL_MS;
      hasNews = false;
    }
  }
  const rest = output.end();
  if (rest !== "") yield outputDelta(toolCallId, rest);
  if (hasNews) yield progress(toolCallId, output);
}

/** What `promise` resolves to; `undefined` if that takes longer. */
async function within<T>(promise: Promise<T>, waitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), waitMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function progress(toolCallId: string, output: CommandOutput): OmniMessage<EventPayload<"tool_progress">> {
  return eventMessage({ type: "tool_progress", tool_call_id: toolCallId, text: output.snapshot() });
}
