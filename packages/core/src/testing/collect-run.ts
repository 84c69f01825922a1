import { createReadStream } from "node:fs";
import type { RunOptions, RunOutcome } from "../engine/run-outcome.ts";
import { readMessages } from "../omnimessage/json-lines.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { runToEnd } from "../session/run-to-end.ts";
import type { Session } from "../session/session.ts";
import { ruleViolations } from "./check-rules.ts";

/** What one run brought, and what the session's trace held after it. */
export interface CollectedRun {
  readonly outcome: RunOutcome;
  readonly messages: readonly OmniMessage[];
  readonly trace: readonly OmniMessage[];
}

/**
 * Runs one task to its end and checks the nine rules of the protocol on its stream and on the session's trace.
 *
 * @throws {Error} Listing every breach that was found.
 */
export async function collectRun(
  session: Pick<Session, "run" | "traceFile">,
  messages: readonly OmniMessage[],
  options: RunOptions = {},
): Promise<CollectedRun> {
  const run = await runToEnd(session, messages, options);
  const trace = await readTraceMessages(session.traceFile);
  const breaches = [
    ...ruleViolations(run.messages, { against: trace }).map((breach) => `stream: ${breach}`),
    ...ruleViolations(trace, { trace: true }).map((breach) => `trace: ${breach}`),
  ];
  if (breaches.length > 0) throw new Error(`the run breaks the protocol:\n${breaches.join("\n")}`);
  return { ...run, trace };
}

/** The messages of one trace file. @throws {Error} For a line that cannot be read. */
export async function readTraceMessages(file: string): Promise<OmniMessage[]> {
  const messages: OmniMessage[] = [];
  for await (const entry of readMessages(createReadStream(file))) {
    if ("problem" in entry) throw new Error(`${file}:${entry.line}: ${entry.problem}`);
    messages.push(entry.message);
  }
  return messages;
}
