import { eventMessage } from "../../omnimessage/build.ts";
import type { EventPayload, OmniMessage } from "../../omnimessage/message.ts";
import { outputDelta } from "../output-delta.ts";
import type { CommandSession } from "./command-session.ts";

/** Eight a second, so that with the last one, which waits for nothing, no second has more than ten. */
const PROGRESS_INTERVAL_MS = 125;

/**
 * What a command prints, as messages of a tool call: deltas of text that is final, as it comes, and `tool_progress` with
 * what a person would see now, at most ten times a second and at the end if there was anything that no call has shown.
 *
 * It ends when the command has ended, the window is over, or the signal fires; lines that have not ended by then are
 * given out as they are. What nobody had read before comes first.
 *
 * @param options.windowMs - Default: no limit.
 */
export async function* streamSession(
  session: CommandSession,
  options: { readonly toolCallId: string; readonly windowMs?: number; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<OmniMessage> {
  const { toolCallId, windowMs = Number.POSITIVE_INFINITY, signal } = options;
  const closesAt = performance.now() + windowMs;
  let progressDueAt = performance.now() + PROGRESS_INTERVAL_MS;
  let { shown } = session;
  const unfollow = session.follow();
  try {
    for (;;) {
      const { printed } = session;
      const isOver = session.end !== undefined || signal?.aborted === true || performance.now() >= closesAt;
      const pieces = isOver ? session.takeAll() : session.take();
      if (pieces.length > 0) yield outputDelta(toolCallId, pieces);
      const hasNews = printed !== shown;
      if (hasNews && (isOver || performance.now() >= progressDueAt)) {
        yield progress(toolCallId, session.snapshot());
        progressDueAt = performance.now() + PROGRESS_INTERVAL_MS;
        shown = printed;
      }
      if (isOver) return;
      const nextAt = hasNews && shown !== printed ? Math.min(progressDueAt, closesAt) : closesAt;
      await session.change(printed, nextAt - performance.now(), signal);
    }
  } finally {
    session.shown = shown;
    unfollow();
  }
}

function progress(toolCallId: string, text: string): OmniMessage<EventPayload<"tool_progress">> {
  return eventMessage({ type: "tool_progress", tool_call_id: toolCallId, text });
}
