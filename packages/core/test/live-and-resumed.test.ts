import { dirname } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { OmniMessage } from "../src/omnimessage/message.ts";
import { ContextReplay } from "../src/session/resume/restore-context.ts";
import { restoreSession } from "../src/session/resume/restore-session.ts";
import type { Session } from "../src/session/session.ts";
import { readTraceMessages, ruleViolations, tempAgent } from "../src/testing/index.ts";
import { contextFile, contextNumbers } from "../src/trace/context-files.ts";
import { conversationBreaches } from "./support/damaged-trace.ts";
import { openPlanned, plannedTools, sessionPlans } from "./support/random-session.ts";

test("whatever happens in a session, its record says what the model was sent and said, message for message, and is a conversation", async () => {
  await using home = await tempAgent({ tools: plannedTools });
  await fc.assert(
    fc.asyncProperty(sessionPlans, async (plan) => {
      const differences: unknown[] = [];
      // At every request, in the middle of runs too.
      await using planned = await openPlanned(home, plan, async (sent) => {
        differences.push(...conversationBreaches(sent));
        const recorded = plain(await recordedFor(planned.session));
        if (JSON.stringify(recorded) !== JSON.stringify(plain(sent))) differences.push({ recorded, sent: plain(sent) });
      });
      for (const step of plan.steps) {
        await planned.perform(step);
        expect(differences).toEqual([]);
        const files = traceFiles(planned.session);
        const trace = (await Promise.all(files.map(readTraceMessages))).flat();
        expect(ruleViolations(trace, { trace: true })).toEqual([]);
        // Between runs nothing is missing that a resumed session would have to add.
        if (files.length > 0) expect((await restoreSession(files)).ending).toEqual([]);
      }
    }),
    { numRuns: 40 },
  );
}, 60_000);

/** What the request that has just begun sends, by the record. */
async function recordedFor(session: Session): Promise<OmniMessage[]> {
  const replay = new ContextReplay(session.traceFile);
  for (const message of await readTraceMessages(session.traceFile)) replay.add(message);
  const { log } = replay.end();
  return [...log.history, ...log.nextInput()];
}

function traceFiles({ traceFile }: Session): string[] {
  const directory = dirname(traceFile);
  return contextNumbers(directory).map((context) => contextFile(directory, context));
}

/** Without what is never sent. */
function plain(messages: readonly OmniMessage[]): unknown[] {
  return messages.map(({ payload }) => ({ ...payload, details: undefined, usage: undefined }));
}
