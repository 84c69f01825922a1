import { createReadStream } from "node:fs";
import { dirname } from "node:path";
import type { RunOptions, RunOutcome } from "../engine/run-outcome.ts";
import { isSessionMeta } from "../omnimessage/guards.ts";
import { readMessages } from "../omnimessage/json-lines.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { runToEnd } from "../session/run-to-end.ts";
import type { Session } from "../session/session.ts";
import { contextFile, contextNumbers } from "../trace/context-files.ts";
import { ruleViolations } from "./check-rules.ts";

/** What one run brought, and what the session had recorded after it: all contexts, without what each was started with. */
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
  const trace = await readRecord(dirname(session.traceFile));
  const breaches = [
    ...ruleViolations(run.messages, { against: trace }).map((breach) => `stream: ${breach}`),
    ...ruleViolations(trace, { trace: true }).map((breach) => `trace: ${breach}`),
  ];
  if (breaches.length > 0) throw new Error(`the run breaks the protocol:\n${breaches.join("\n")}`);
  return { ...run, trace };
}

async function readRecord(traceDir: string): Promise<OmniMessage[]> {
  const record: OmniMessage[] = [];
  for (const context of contextNumbers(traceDir)) {
    record.push(...withoutCarried(await readTraceMessages(contextFile(traceDir, context))));
  }
  return record;
}

/** The head no longer says that records are carried: those behind it would count as such. */
function withoutCarried([head, ...messages]: readonly OmniMessage[]): OmniMessage[] {
  if (!head || !isSessionMeta(head)) return head ? [head, ...messages] : [];
  const { carried = 0, ...payload } = head.payload;
  return [{ ...head, payload }, ...messages.slice(carried)];
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
