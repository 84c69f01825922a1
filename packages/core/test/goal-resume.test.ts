import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { userText } from "../src/omnimessage/build.ts";
import { isType } from "../src/omnimessage/guards.ts";
import type { OmniMessage } from "../src/omnimessage/message.ts";
import { restoreSession } from "../src/session/resume/restore-session.ts";
import type { Session } from "../src/session/session.ts";
import { collectRun, type ScriptedTurn, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { goalSession, OBJECTIVE, roundsIn, WORK } from "./support/goal-session.ts";

const PAST = "(Round 3 of work on the goal below was interrupted; that goal is no longer pursued.)\n\nMake it pass.";

test("a goal that dies in its third round is told as past, by a resumed session as by the live one (PC-039)", async () => {
  await using home = await tempAgent();
  const live = scriptedLLM("a", "b", { hang: true }, "next");
  const session = await home.agent.createSession({ ...home, createLLM: () => live });
  await abortIn(session, 3);
  const whole = readFileSync(session.traceFile, "utf8").split("\n");
  await collectRun(session, [userText("now?")]);
  const wanted = live.requests.at(-1)?.newMessages.map(({ payload }) => payload);
  expect(wanted).toEqual([expect.objectContaining({ text: PAST }), expect.objectContaining({ text: "now?" })]);
  await session.dispose();

  const died = whole.findLastIndex((line) => line.includes('"request_begin"'));
  writeFileSync(session.traceFile, `${whole.slice(0, died + 1).join("\n")}\n`);
  const later = scriptedLLM("next");
  const resumed = await home.agent.resumeSession(session.sessionId, { createLLM: () => later });
  const { outcome } = await collectRun(resumed, [userText("now?")]);
  expect(outcome.text).toBe("next");
  expect(later.requests[0]?.newMessages.map(({ payload }) => payload)).toEqual(wanted);
  const listed = await home.agent.listSessions();
  expect(listed[0]?.firstText).toBe("Make it pass.");
});

test("wherever a goal dies, in a reply and behind a summary too, nothing tells the model to go on with it", async () => {
  const overflow = { outcome: { status: "failed", permanent: true, overflow: true } } as const;
  const turns: ScriptedTurn[] = [
    WORK,
    "a",
    overflow,
    "[summary]so far[/summary]",
    { text: "b", ...WORK },
    "c",
    { text: "d", thinking: "hm", ...WORK },
    "e",
  ];
  const { session, run, requests } = await goalSession(turns);
  const { outcome } = await run({ goal: { maxRounds: 3 } });
  expect(outcome.goal).toMatchObject({ outcome: "budget_limited", rounds: 3 });
  // The round in hand when room was made goes on as it was.
  const retried = requests[4]?.newMessages ?? [];
  expect(roundsIn(retried)).toEqual([2]);
  const traces = dirname(session.traceFile);
  const files = readdirSync(traces)
    .filter((file) => file.endsWith(".jsonl"))
    .sort();
  expect(files).toHaveLength(2);
  const directory = mkdtempSync(join(tmpdir(), "rookery-goal-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  let notes = 0;
  for (const [at, name] of files.entries()) {
    const lines = readFileSync(join(traces, name), "utf8").trimEnd().split("\n");
    const carried =
      (JSON.parse(lines[0] ?? "") as OmniMessage<{ carried?: number } & OmniMessage["payload"]>).payload.carried ?? 0;
    for (let cut = 1 + carried; cut <= lines.length; cut++) {
      mkdirSync(directory, { recursive: true });
      const cutFile = join(directory, name);
      writeFileSync(cutFile, `${lines.slice(0, cut).join("\n")}\n`);
      const before = files.slice(0, at).map((file) => join(traces, file));
      const { log } = await restoreSession([...before, cutFile]);
      log.add(userText("now?"));
      const input = log.nextInput();
      expect(roundsIn(input), `${name}:${cut}`).toEqual([]);
      const said = input.map((message) => (isType(message, "text") ? message.payload.text : "")).join("\n");
      expect(said).not.toContain("[goal]");
      if (said.includes("that goal is no longer pursued.)\n\nMake it pass.")) notes += 1;
    }
  }
  expect(notes).toBeGreaterThan(6);
});

/** Runs a goal and interrupts it when a request of that round has begun. */
async function abortIn(session: Session, round: number): Promise<void> {
  const stop = new AbortController();
  let current = 0;
  for await (const message of session.run([userText(OBJECTIVE.trim())], { goal: {}, signal: stop.signal })) {
    current = Math.max(current, ...roundsIn([message]));
    if (current === round && isType(message, "request_begin")) stop.abort();
  }
}
