import type { OmniMessage } from "../../omnimessage/message.ts";
import type { ToolResult } from "../contract.ts";
import { outputDelta } from "../output-delta.ts";
import { endReport } from "./command-report.ts";
import type { CommandSession } from "./command-session.ts";
import type { ProcessEnd } from "./run-process.ts";
import { streamSession } from "./stream-session.ts";

/** What a command prints until it ends, as `streamSession` gives it, and why it could not be started. Given up, it is stopped. */
export async function* followToEnd(
  session: CommandSession,
  toolCallId: string,
): AsyncGenerator<OmniMessage, ProcessEnd> {
  try {
    yield* streamSession(session, { toolCallId });
    const end = await session.ended;
    if (end.error !== undefined) yield outputDelta(toolCallId, end.error);
    return end;
  } finally {
    // Nobody reads on when the call was given up.
    await session.stop();
  }
}

/** The same with the report of a call that has a deadline of its own. */
export async function* followToDeadline(
  session: CommandSession,
  toolCallId: string,
  deadlineMs: number | undefined,
): AsyncGenerator<OmniMessage, ToolResult> {
  const end = yield* followToEnd(session, toolCallId);
  const isLate = end.outcome === "timed-out" && deadlineMs !== undefined;
  return { ...endReport(session, end), ...(isLate && { note: `[timed out after ${deadlineMs / 1000} s]` }) };
}
