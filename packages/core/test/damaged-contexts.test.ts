import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { userText } from "../src/omnimessage/build.ts";
import type { OmniMessage } from "../src/omnimessage/message.ts";
import { restoreSession } from "../src/session/resume/restore-session.ts";
import { tempAgent } from "../src/testing/index.ts";
import { contextFile, contextNumbers } from "../src/trace/context-files.ts";
import { modelOver, strict } from "./support/adapter-kit.ts";
import { ask } from "./support/ask.ts";
import { conversationBreaches } from "./support/damaged-trace.ts";
import { openPlanned, plannedTools, sessionPlans } from "./support/random-session.ts";

// Of this seed: together they were compacted in every way.
const PLANS = fc.sample(sessionPlans, { numRuns: 10, seed: 3 });
/** Of each service. */
const ASKED = 50;
const PROTOCOLS = ["openai-chat", "openai-responses", "anthropic-messages", "google"] as const;

test("wherever the trace of a compacted session is cut off and whatever line is lost, all four services take the history", async () => {
  const directory = mkdtempSync(join(tmpdir(), "rookery-damaged-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const prompts = new Map<string, { history: readonly OmniMessage[]; input: readonly OmniMessage[] }>();
  const kinds = new Set<string | undefined>();
  const collect = async (file: string, text: string): Promise<void> => {
    writeFileSync(file, text);
    const { log } = await restoreSession([file]);
    const { history } = log;
    log.add(userText("go on"));
    const prompt = { history, input: log.nextInput() };
    expect(conversationBreaches([...history, ...prompt.input]), `in ${text}`).toEqual([]);
    prompts.set(JSON.stringify([...history, ...prompt.input].map(shapeOf)), prompt);
  };
  for (const file of await recordedContexts(directory)) {
    const text = readFileSync(file, "utf8");
    for (const [, kind] of text.matchAll(/"compaction_end",.*?"mode":("\w+","status":"\w+")/g)) kinds.add(kind);
    if (text.includes('"model":"custom/other"')) kinds.add("by another model");
    const lines = text.trimEnd().split("\n");
    // What a line that was cut off comes to, resume.test.ts says.
    for (let kept = 1; kept <= lines.length; kept++) await collect(file, `${lines.slice(0, kept).join("\n")}\n`);
    for (let lost = 1; lost < lines.length; lost++) {
      await collect(file, `${lines.toSpliced(lost, 1, "{damaged").join("\n")}\n`);
    }
  }
  expect([...kinds].sort()).toEqual([
    '"discard","status":"completed"',
    '"prune","status":"completed"',
    '"summarize","status":"aborted"',
    '"summarize","status":"completed"',
    '"summarize","status":"failed"',
    "by another model",
  ]);

  // The rules above were held by all; the services look at some of each kind.
  const stride = PROTOCOLS.length * Math.ceil(prompts.size / (PROTOCOLS.length * ASKED));
  for (const [n, clientType] of PROTOCOLS.entries()) {
    const server = await strict({ turns: ["fine"], loop: true });
    for (const { history, input } of [...prompts.values()].filter((_, at) => at % stride === n)) {
      const llm = modelOver(clientType)(server);
      llm.setHistory(history);
      expect((await ask(llm, ...input)).outcome.status).toBe("completed");
    }
    expect(server.violations).toEqual([]);
  }
}, 60_000);

/** What a service looks at: who says what kind of thing, and which output answers which call. */
function shapeOf({ payload }: OmniMessage): unknown[] {
  const { type, role, tool_call_id: id, stop_reason: reason } = payload as unknown as Record<string, unknown>;
  return [type, role, id, reason];
}

/** The context files of the planned sessions. */
async function recordedContexts(directory: string): Promise<string[]> {
  await using home = await tempAgent({ tools: plannedTools });
  const files: string[] = [];
  for (const [n, plan] of PLANS.entries()) {
    const compaction = { ...plan.compaction, maxContextTokens: 1000 };
    await using planned = await openPlanned(home, { ...plan, compaction });
    for (const step of plan.steps) await planned.perform(step);
    const to = join(directory, String(n));
    cpSync(dirname(planned.session.traceFile), to, { recursive: true });
    files.push(...contextNumbers(to).map((context) => contextFile(to, context)));
  }
  return files;
}
