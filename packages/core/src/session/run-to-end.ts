import type { RunOptions, RunOutcome } from "../engine/run-outcome.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import type { Session } from "./session.ts";

/** Runs one task and resolves to its outcome and everything it streamed, in order. Rejects as `session.run` throws. */
export async function runToEnd(
  session: Pick<Session, "run">,
  messages: readonly OmniMessage[],
  options: RunOptions = {},
): Promise<{ readonly outcome: RunOutcome; readonly messages: OmniMessage[] }> {
  const run = session.run(messages, options);
  const streamed: OmniMessage[] = [];
  for (;;) {
    const step = await run.next();
    if (step.done) return { outcome: step.value, messages: streamed };
    streamed.push(step.value);
  }
}
