import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { userText } from "../src/omnimessage/build.ts";
import { isType } from "../src/omnimessage/guards.ts";
import type { OmniMessage, ToolCallPayload } from "../src/omnimessage/message.ts";
import type { Session } from "../src/session/session.ts";
import { collectRun, type ScriptedTurn, scriptedLLM } from "../src/testing/index.ts";
import { backgroundScene, reportsIn, SAY, starting } from "./support/background-scene.ts";

const allow = { approve: async () => "allow" as const };
const SUMMARY = "[summary]the story so far[/summary]";
const begin = [userText("begin")];

const reportOf = (
  id: string,
  detail = "exit code 0",
  command = "read -r _ < gate; echo over",
  output = "over",
): string =>
  [
    "[background_task_done]",
    "kind: command",
    `id: ${id}`,
    `status: ${detail === "exit code 0" ? "completed" : "failed"}`,
    `detail: ${detail}`,
    "[/background_task_done]",
    command,
    "[background_task_output]",
    output,
    "[/background_task_output]",
  ].join("\n");

test("what ends while a task runs is reported with the next request, before steering, streamed and recorded", async () => {
  await using scene = await backgroundScene([starting(), SAY, "done"]);
  const { session } = scene;
  let id = "";
  const approve = async ({ payload }: OmniMessage<ToolCallPayload>): Promise<"allow"> => {
    if (payload.name !== "say") return "allow";
    id = scene.idOf();
    session.steer([userText("quick")]);
    await scene.settle();
    return "allow";
  };
  const { messages, trace, outcome } = await collectRun(session, begin, { approve });
  expect(outcome).toMatchObject({ status: "completed", text: "done", turns: 3 });
  expect(scene.asked.map(texts)).toEqual([
    ["begin"],
    [expect.stringContaining(`process_id: ${id}`)],
    ["said", reportOf(id), "[user_steering]\nquick\n[/user_steering]"],
  ]);
  expect(reportsIn(messages)).toEqual(reportsIn(trace));
  const [report] = messages.filter((message) => isType(message, "text") && message.payload.role === "user");
  expect(report?.payload).toMatchObject({ role: "user", sender: "harness" });
  expect(session.listBackgroundCommands()).toEqual([]);
});

test("what ends while the last reply streams makes the task go on by one turn", async () => {
  await using scene = await backgroundScene([
    starting(),
    after(
      () => scene.settle(),
      () => "done",
    ),
    "all done",
  ]);
  const { outcome } = await collectRun(scene.session, begin, allow);
  expect(outcome).toMatchObject({ status: "completed", text: "all done", turns: 3 });
  expect(scene.asked.flatMap(reportsIn)).toHaveLength(1);
});

test("a task at its limit of turns ends as it is; its report, and what was said meanwhile, wait", async () => {
  const more = [userText("more")];
  await using scene = await backgroundScene(
    [
      starting(),
      after(
        async () => {
          await scene.settle();
          scene.session.steer(more);
        },
        () => "done",
      ),
      "now",
    ],
    { maxTurns: 2 },
  );
  const { session } = scene;
  const told = signal(session);
  const { outcome } = await collectRun(session, begin, allow);
  expect(outcome).toMatchObject({
    status: "completed",
    text: "done",
    undelivered: { steering: [more], followUps: [] },
  });
  await told.once();
  expect(session.hasPendingBackgroundNotices).toBe(true);
  // Without a host that takes it, the next run says it, and before what is asked.
  await collectRun(session, [userText("next")], allow);
  expect(scene.asked[2]?.map(firstLine)).toEqual(["[background_task_done]", "next"]);
  expect(session.hasPendingBackgroundNotices).toBe(false);
});

test("in an idle session a host is told, takes the notices once and starts a task with them", async () => {
  await using scene = await backgroundScene([starting(), "started", "seen"]);
  const { session } = scene;
  await collectRun(session, begin, allow);
  const told = signal(session);
  const id = scene.idOf();
  expect(session.listBackgroundCommands()).toEqual([
    { id, command: "read -r _ < gate; echo over", startedAt: expect.any(Date), status: "running" },
  ]);
  await scene.settle();
  await told.once();
  expect(session.listBackgroundCommands()).toMatchObject([{ id, status: "ended" }]);
  const notices = session.takeBackgroundNotices();
  expect(notices.map(textOf)).toEqual([reportOf(id)]);
  expect([session.takeBackgroundNotices(), session.listBackgroundCommands()]).toEqual([[], []]);
  const { outcome, trace } = await collectRun(session, notices, allow);
  expect(outcome.text).toBe("seen");
  expect(reportsIn(trace)).toHaveLength(1);
});

test("a host that comes late is told of what waits; one that fails, or has gone, harms nobody", async () => {
  const warnings: string[] = [];
  await using scene = await backgroundScene([starting(), "started"], { onWarning: ({ code }) => warnings.push(code) });
  const { session } = scene;
  await collectRun(session, begin, allow);
  await scene.settle();
  let gone = 0;
  session.onBackgroundNotice(() => {
    throw new Error("broken");
  });
  session.onBackgroundNotice(() => gone++)();
  await signal(session).once();
  expect([warnings, gone]).toEqual([["listener-failed"], 0]);
});

test("a command whose end a call has read is not reported", async () => {
  await using scene = await backgroundScene([
    starting(),
    after(
      () => scene.settle(),
      () => polling(scene.idOf()),
    ),
    "read",
  ]);
  const { trace, outcome } = await collectRun(scene.session, begin, allow);
  expect(outcome).toMatchObject({ text: "read", turns: 3 });
  expect(textOf(scene.asked[2]?.[0])).toBe("over\n[exit code 0]");
  expect(reportsIn(trace)).toEqual([]);
  expect(scene.session.hasPendingBackgroundNotices).toBe(false);
});

test("a command that the host ends is not reported; one that is not there cannot be ended", async () => {
  await using scene = await backgroundScene([starting(), "started", "next"]);
  const { session } = scene;
  await collectRun(session, begin, allow);
  const told = signal(session);
  expect(await session.killBackgroundCommand(scene.idOf())).toBe(true);
  expect(await session.killBackgroundCommand("proc-00000000")).toBe(false);
  const { trace } = await collectRun(session, [userText("next")], allow);
  expect([reportsIn(trace), told.count()]).toEqual([[], 0]);
});

test("what a report does not show of long output can still be read by its id", async () => {
  const long = "printf 'x%.0s' {1..3000}; printf '🦔%.0s' {1..2000}";
  let id = "";
  await using scene = await backgroundScene([
    starting("gate", long),
    "started",
    after(
      async () => undefined,
      () => polling(id),
    ),
    "seen",
  ]);
  await collectRun(scene.session, begin, allow);
  id = scene.idOf();
  await scene.settle();
  const notices = scene.session.takeBackgroundNotices();
  const [text = ""] = notices.map(textOf);
  expect(text).toContain("[3000 characters of output before these can be read by its id]");
  expect(text).toContain(`[background_task_output]\n${"🦔".repeat(2000)}\n[/background_task_output]`);
  const { trace } = await collectRun(scene.session, notices, allow);
  expect(textOf(scene.asked.at(-1)?.[0])).toBe(`${"x".repeat(3000)}\n[exit code 0]`);
  expect(reportsIn(trace)).toHaveLength(1);
});

test("a new context knows which commands still run", async () => {
  const full = { usage: { total: 1000 } };
  const settings = { maxContextTokens: 1000, keepOutputTokens: -1 };
  for (const mode of ["summarize", "discard"] as const) {
    const ended = { text: "started", ...full };
    const turns = mode === "summarize" ? [starting(), ended, SUMMARY, "next"] : [starting(), ended, "next"];
    await using scene = await backgroundScene(turns, { compaction: { ...settings, mode } });
    await collectRun(scene.session, begin, allow);
    const note = `[background_tasks]\nWhat was started before and goes on in the background, by its ids:\ncommand ${scene.idOf()}: read -r _ < gate; echo over\n[/background_tasks]`;
    await collectRun(scene.session, [userText("next")], allow);
    const summary = mode === "summarize" ? ["[context_summary]\nthe story so far\n[/context_summary]"] : [];
    expect(texts(scene.asked.at(-1) ?? [])).toEqual([...summary, note, "next"]);
  }
});

test("a history is not discarded before what has ended was told in it", async () => {
  const full = { text: "done", usage: { total: 1000 } };
  const compaction = { maxContextTokens: 1000, mode: "discard" } as const;
  const last = after(
    () => scene.settle(),
    () => full,
  );
  await using scene = await backgroundScene([starting(), last, { ...full, text: "seen" }], { compaction });
  const { messages } = await collectRun(scene.session, begin, allow);
  const places = ["background_task_done", "compaction_begin"].map((word) =>
    messages.findIndex((message) => JSON.stringify(message).includes(word)),
  );
  expect(places[0]).toBeGreaterThan(0);
  expect(places[1]).toBeGreaterThan(places[0] ?? 0);
});

test("what ran when the harness stopped is reported with the first run after it, once, and wakes nobody", async () => {
  await using scene = await backgroundScene([starting(), starting("second"), "started"]);
  await collectRun(scene.session, begin, allow);
  const ids = [scene.idOf(), scene.idOf("second")];
  await scene.settle("second");
  await scene.session.dispose();
  expect(scene.session.takeBackgroundNotices()).toEqual([]);
  const lost = (id: string, gate: string): string =>
    `[background_task_done]\nkind: command\nid: ${id}\nstatus: ended_with_harness\ndetail: lost with the harness, and its last output with it\n[/background_task_done]\nread -r _ < ${gate}; echo over`;
  const wanted = [lost(ids[0] ?? "", "gate"), lost(ids[1] ?? "", "second")];
  // A session that is opened and not run leaves them to the next.
  await (await scene.resume()).dispose();
  const resumed = await scene.resume("sorry", "fine");
  const told = signal(resumed);
  await collectRun(resumed, [userText("go on")], allow);
  await resumed.dispose();
  expect(texts(scene.asked.at(-1) ?? [])).toEqual([...wanted, "go on"]);
  const again = await scene.resume("fine");
  const { trace } = await collectRun(again, [userText("and?")], allow);
  expect([reportsIn(trace), told.count()]).toEqual([wanted, 0]);
});

test("what ends while a session is compacted by hand is told when that is over", async () => {
  await using scene = await backgroundScene([
    starting(),
    "started",
    after(
      () => scene.settle(),
      () => SUMMARY,
    ),
    "seen",
  ]);
  const { session } = scene;
  await collectRun(session, begin, allow);
  const told = signal(session);
  const compaction = session.compact();
  while (!(await compaction.next()).done) expect(session.takeBackgroundNotices()).toEqual([]);
  await told.once();
  expect(session.takeBackgroundNotices().map(firstLine)).toEqual(["[background_task_done]"]);
});

test("a run that holds the notices leaves them to a later one", async () => {
  await using scene = await backgroundScene([starting(), SAY, "done", "later"]);
  const approve = async ({ payload }: OmniMessage<ToolCallPayload>): Promise<"allow"> => {
    if (payload.name === "say") await scene.settle();
    return "allow";
  };
  const held = await collectRun(scene.session, begin, { approve, backgroundNotices: "hold" });
  expect([held.outcome.text, reportsIn(held.trace)]).toEqual(["done", []]);
  await collectRun(scene.session, [userText("later")], allow);
  expect(scene.asked.at(-1)?.map(firstLine)).toEqual(["[background_task_done]", "later"]);
});

test("whenever a command ends, record and models hear of it exactly once", async () => {
  const script = [starting(), { ...(SAY as object), usage: { total: 1000 } }, SUMMARY, "done"];
  let most = 0;
  const tried = async (settleAt: number, isAborted: boolean): Promise<void> => {
    let points = 0;
    const stop = new AbortController();
    const point = async (): Promise<void> => {
      // Nothing can end before it was started.
      if (scene.session.listBackgroundCommands().length === 0 && points === 0) return;
      if (++points !== settleAt) return;
      if (isAborted) stop.abort();
      await scene.settle();
    };
    await using scene = await backgroundScene(
      script,
      { compaction: { maxContextTokens: 1000, keepOutputTokens: -1 } },
      point,
    );
    const { session } = scene;
    const told = signal(session);
    const approve = async (): Promise<"allow"> => {
      await point();
      return "allow";
    };
    await collectRun(session, begin, { approve, signal: stop.signal });
    if (points < settleAt) await point();
    most = Math.max(most, points);
    const waits = session.hasPendingBackgroundNotices;
    if (waits && settleAt % 2 === 0) {
      await told.once();
      await collectRun(session, session.takeBackgroundNotices(), { approve });
    } else await collectRun(session, [userText("next")], { approve });
    await session.dispose();
    const resumed = await scene.resume("fine");
    const { trace } = await collectRun(resumed, [userText("and?")], { approve });
    expect(reportsIn(trace), `at ${settleAt}`).toHaveLength(1);
    // A request that was interrupted is said again within another text.
    const committed = isAborted ? scene.asked.map((input) => texts(input).join("\n")) : scene.asked.flatMap(reportsIn);
    const times = committed.filter((text) => text.includes("[background_task_done]")).length;
    if (isAborted) expect(times).toBeGreaterThan(0);
    else expect(times, `at ${settleAt}`).toBe(1);
  };
  for (let settleAt = 1; settleAt <= 26; settleAt += 3) await tried(settleAt, false);
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 28 }), fc.boolean(), tried), { numRuns: 6 });
  expect(most).toBeGreaterThan(20);
}, 30_000);

function after(act: () => Promise<void>, turn: () => ScriptedTurn): ScriptedTurn {
  return async function* (parameters) {
    await act();
    return yield* scriptedLLM(turn()).streamGenerate(parameters);
  };
}

function polling(id: string): ScriptedTurn {
  const args = { description: "Reads.", process_id: id };
  return { calls: [{ name: "input_command", args, id: "poll" }] };
}

/** How often a host was told, and a wait for the first time. */
function signal(session: Session): { once(): Promise<void>; count(): number } {
  let count = 0;
  session.onBackgroundNotice(() => {
    count += 1;
  });
  return { once: () => vi.waitFor(() => expect(count).toBeGreaterThan(0), WAIT_MS), count: () => count };
}

/** What is told is told at once; the rest is for a machine that is busy. */
const WAIT_MS = 5_000;

function textOf(message: OmniMessage | undefined): string {
  const { text, output } = (message?.payload ?? {}) as { text?: string; output?: string };
  return text ?? output ?? "";
}

function texts(messages: readonly OmniMessage[]): string[] {
  return messages.map(textOf);
}

function firstLine(message: OmniMessage): string {
  return textOf(message).split("\n", 1)[0] ?? "";
}
