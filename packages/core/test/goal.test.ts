import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CompactionSettings } from "../src/engine/compaction/settings.ts";
import { roundText } from "../src/engine/goal/round-text.ts";
import { userData, userImage, userText } from "../src/omnimessage/build.ts";
import { readGoalInput } from "../src/omnimessage/goal-input.ts";
import { isType } from "../src/omnimessage/guards.ts";
import type { OmniMessage } from "../src/omnimessage/message.ts";
import { createControlFile, shownPaths } from "../src/session/goal/control-file.ts";
import { collectRun, type ScriptedReply, type ScriptedTurn, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { PIXEL } from "./support/adapter-kit.ts";
import { goalSession, OBJECTIVE, replaceByDirectory, report, roundsIn, WORK } from "./support/goal-session.ts";
import { canConfine } from "./support/sandboxed.ts";

test("rounds follow each other until the control file says that the goal is reached", async () => {
  const { run, requests, file } = await goalSession(["begun", WORK, "going on", report("complete"), "reached"]);
  const { outcome, messages, trace } = await run({}, [userText(OBJECTIVE), userImage(PIXEL)]);
  expect(outcome).toMatchObject({ status: "completed", text: "reached", turns: 5, usage: { total: 75 } });
  expect(outcome.goal).toEqual({ outcome: "complete", rounds: 3, tokens_used: 75 });
  expect(messages.at(-1)?.payload).toEqual({ type: "goal_finished", ...outcome.goal });
  expect(trace.at(-1)?.payload).toEqual(messages.at(-1)?.payload);
  expect(messages.some((message) => isType(message, "abort"))).toBe(false);
  // Unlike the input of a task, that of a round is shown.
  expect([roundsIn(messages), roundsIn(trace)]).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
  expect(requests[0]?.newMessages.map(({ payload }) => payload.type)).toEqual(["text", "image_url"]);
  const said = requests.map(({ newMessages }) => textOf(newMessages[0]));
  expect(said[0]).toMatch(/^\[goal\]\nRound 1\.\n/);
  expect(said[0]).toContain(`\nControl file: ${file}\n`);
  expect(said[0]).toContain("\n  objective: Make it pass.\n  status: active\nBudget: 0 tokens are used, no limit.\n");
  // As it was given first, then the objective alone.
  expect(said[0]).toMatch(/\n\[\/goal\]\n\nMake it pass\.\n$/);
  expect(said[1]).toMatch(
    /Round 2\.[\s\S]*\nBudget: 15 tokens are used, no limit\.\n[\s\S]*\n\[\/goal\]\n\nMake it pass\.$/,
  );
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a goal that the model cannot reach ends as blocked, and the session goes on", async () => {
  const { run, session, requests } = await goalSession([report("blocked"), "no way", "yes?"]);
  const { outcome, messages } = await run();
  expect(outcome).toMatchObject({ status: "failed", code: "goal-blocked", text: "no way" });
  expect(outcome.goal).toEqual({ outcome: "blocked", rounds: 1, tokens_used: 30 });
  expect(messages.slice(-2).map(({ payload }) => payload.type)).toEqual(["abort", "goal_finished"]);
  expect((await collectRun(session, [userText("hello?")])).outcome.text).toBe("yes?");
  expect(requests.at(-1)?.newMessages.map(textOf)).toEqual(["hello?"]);
});

const replaced: [what: string, problem: RegExp, spoil: (file: string) => void][] = [
  ["deleted", /cannot be read: ENOENT/, (file) => rmSync(file)],
  ["binary", /cannot be read: ERR_ENCODING/, (file) => writeFileSync(file, Buffer.from([0xff, 0, 1]))],
  ["empty", /no status that is known/, (file) => writeFileSync(file, "")],
  ["huge", /cannot be read: it has 100000 bytes, more than/, (file) => writeFileSync(file, "#".repeat(100_000))],
  ["a directory", /cannot be read: /, replaceByDirectory],
  ["no YAML", /is not valid YAML/, (file) => writeFileSync(file, "status: complete\n: : [")],
  ["ambiguous", /is not valid YAML/, (file) => writeFileSync(file, "status: active\nstatus: complete\n")],
  ["unknown", /no status that is known/, (file) => writeFileSync(file, "status: nearly done\n")],
  ["a list", /no status that is known/, (file) => writeFileSync(file, "- status: complete\n")],
  ["an alias", /no status that is known/, (file) => writeFileSync(file, "x: &x complete\nstatus: *x\n")],
  ["deeply nested", /the control file/, (file) => writeFileSync(file, `status: ${"[".repeat(15_000)}`)],
  [
    "a symbolic link",
    /cannot be read: ELOOP/,
    (file) => {
      renameSync(file, `${file}.other`);
      symlinkSync(`${file}.other`, file);
    },
  ],
  [
    "a pipe",
    /cannot be read: it is not a file/,
    (file) => {
      rmSync(file);
      execFileSync("mkfifo", [file]);
    },
  ],
];

test.each(replaced)(
  "a control file that is %s counts as blocked, and a later goal has a new one",
  async (_, problem, work) => {
    const { run, file } = await goalSession([WORK, "done?", report("complete"), "done"], { work });
    const { outcome } = await run();
    expect(outcome).toMatchObject({ status: "failed", code: "goal-blocked", goal: { outcome: "blocked", rounds: 1 } });
    expect(outcome.message).toMatch(problem);
    expect(outcome.message).toContain(file);
    const again = (await run()).outcome;
    if (work !== replaceByDirectory)
      expect(again).toMatchObject({ status: "completed", goal: { outcome: "complete" } });
    else {
      expect(again).toMatchObject({ status: "failed", goal: { outcome: "aborted", rounds: 0 } });
      expect(again.message).toMatch(/^the goal's control file cannot be written: /);
    }
  },
);

test("what stands in the place of the file when a goal begins is replaced, not written through", async () => {
  await using home = await tempAgent();
  const [target, hard] = [join(home.workspaceDir, "target"), join(home.workspaceDir, "hard")];
  const file = join(home.workspaceDir, "GOAL.yaml");
  for (const place of [target, hard]) writeFileSync(place, "kept");
  symlinkSync(target, file);
  const goal = await createControlFile(home.workspaceDir, "a: [b\n---\n# c");
  expect(await goal.readStatus()).toBe("active");
  rmSync(file);
  linkSync(hard, file);
  await createControlFile(home.workspaceDir, "another");
  expect([target, hard].map((place) => readFileSync(place, "utf8"))).toEqual(["kept", "kept"]);
});

test("without a place for the control file nothing is asked, and what was said is not lost", async () => {
  const { run, session, requests, file } = await goalSession(["later"]);
  mkdirSync(dirname(dirname(file)), { recursive: true });
  writeFileSync(dirname(file), "");
  const { outcome, messages } = await run();
  expect(outcome).toMatchObject({ status: "failed", goal: { outcome: "aborted", rounds: 0, tokens_used: 0 } });
  expect(messages.map(({ payload }) => payload.type)).toEqual(["abort", "goal_finished"]);
  await collectRun(session, [userText("and now?")]);
  expect(requests[0]?.newMessages.map(textOf)).toEqual([OBJECTIVE, "and now?"]);
});

describe("a budget", () => {
  const bought = (turn: ScriptedReply, id: string, cost?: number): ScriptedTurn => paid(turn, id, cost);

  test("in tokens ends the round before its next request; one more wraps up", async () => {
    const usage = { cache_read: 100, cache_write: 10, output: 5, total: 115 };
    const { run, requests } = await goalSession([{ ...WORK, usage }, { ...WORK, usage }, "wrapped up"]);
    const { outcome, messages } = await run({ goal: { budgetTokens: 25 } });
    expect(outcome).toMatchObject({ status: "failed", code: "budget", text: "wrapped up", turns: 3 });
    expect(outcome.message).toBe("the goal has taken 45 tokens, and its budget is 25");
    // What came from the cache is not counted.
    expect(outcome.goal).toEqual({ outcome: "budget_limited", rounds: 2, tokens_used: 45 });
    expect(roundsIn(messages)).toEqual([1, 2]);
    expect(requests[2]?.newMessages.map(({ payload }) => payload.type)).toEqual(["tool_call_output", "text"]);
    const last = textOf(requests[2]?.newMessages[1]);
    expect(last).toContain("The budget is spent, and this round, of 6 requests at most, is the last.");
    expect(last).toContain("Budget: 30 tokens are used, 0 of 25 are left.");
  });

  test("in money holds for the whole goal", async () => {
    const turns = [
      bought({ text: "a" }, "", 0.4),
      bought(WORK, "c1", 0.4),
      bought(WORK, "c2", 0.4),
      bought({ text: "end" }, "", 0.1),
    ];
    const { run, requests } = await goalSession(turns);
    const { outcome } = await run({ maxCostUsd: 1 });
    expect(outcome).toMatchObject({ status: "failed", code: "budget", text: "end", turns: 4, cost_usd: 1.3 });
    expect(outcome.goal).toMatchObject({ outcome: "budget_limited", rounds: 3 });
    expect(textOf(requests[3]?.newMessages[1])).toContain("; $1.2000 of $1 are spent.");
  });

  test("in money ends a goal whose costs are not known, with nothing more", async () => {
    const { run, requests } = await goalSession([WORK, "never"]);
    const { outcome } = await run({ maxCostUsd: 1 });
    expect(outcome).toMatchObject({ status: "failed", code: "budget", goal: { outcome: "budget_limited", rounds: 1 } });
    expect(outcome.message).toMatch(/is not known/);
    expect(requests).toHaveLength(1);
  });

  test.each(["complete", "blocked"])("that is spent counts no more where the file says %s already", async (status) => {
    const { run, requests } = await goalSession([report(status), "never"]);
    const { outcome } = await run({ goal: { budgetTokens: 1 } });
    expect(outcome.goal).toMatchObject({ outcome: status, rounds: 1 });
    expect(requests).toHaveLength(1);
  });

  test("a goal that is reached in the round after it is reached", async () => {
    const { run } = await goalSession(["a", report("complete"), "b"]);
    const { outcome } = await run({ goal: { budgetTokens: 15 } });
    expect(outcome).toMatchObject({ status: "completed", text: "b", goal: { outcome: "complete", rounds: 2 } });
  });

  test("the round after it makes a few requests and no more, whatever the model wants", async () => {
    const { run, requests } = await goalSession(Array.from({ length: 20 }, () => WORK));
    const { outcome } = await run({ goal: { budgetTokens: 1 } });
    expect(outcome.goal).toMatchObject({ outcome: "budget_limited", rounds: 2 });
    expect(requests).toHaveLength(1 + 6);
  });

  test.each([0, Number.NaN])("of %d allows no request", async (budgetTokens) => {
    const { run, requests } = await goalSession(["never"]);
    expect((await run({ goal: { budgetTokens } })).outcome.goal).toMatchObject({
      outcome: "budget_limited",
      rounds: 1,
    });
    expect(requests).toHaveLength(0);
  });

  test("that is spent pays for no summary before the last round; one behind it counts", async () => {
    const compaction = { maxContextTokens: 10, keepOutputTokens: -1 };
    const { run } = await goalSession([WORK, "wrapped up", "[summary]so far[/summary]"], { compaction });
    const { outcome, messages } = await run({ goal: { budgetTokens: 15 } });
    expect(outcome.goal).toEqual({ outcome: "budget_limited", rounds: 2, tokens_used: 45 });
    const told = ["request_begin", "compaction_begin"];
    const types = messages.flatMap((message) => {
      const { type = "" } = message.payload;
      return told.includes(type) ? [type] : roundsIn([message]).map(String);
    });
    expect(types).toEqual(["1", "request_begin", "2", "request_begin", "compaction_begin"]);
  });

  test("of rounds is none where it is -1, 100 where nothing is said, and used up where it is no number", async () => {
    const short = await goalSession(["a", "b", "never"]);
    const { outcome } = await short.run({ goal: { maxRounds: 2 } });
    expect(outcome).toMatchObject({
      status: "failed",
      code: "budget",
      text: "b",
      goal: { outcome: "budget_limited", rounds: 2 },
    });
    const turns = [...Array.from({ length: 101 }, () => "more"), report("complete"), "done"];
    const long = await (await goalSession(turns)).run({ goal: { maxRounds: -1 } });
    expect(long.outcome.goal).toMatchObject({ outcome: "complete", rounds: 102 });
    const usual = await (await goalSession(turns)).run();
    expect(usual.outcome.goal).toMatchObject({ outcome: "budget_limited", rounds: 100 });
    const none = await (await goalSession(["never"])).run({ goal: { maxRounds: Number.NaN } });
    expect(none.outcome.goal).toMatchObject({ outcome: "budget_limited", rounds: 0 });
  });
});

test("a round that does not complete ends the goal as aborted", async () => {
  const limited = await (await goalSession(["a", WORK, WORK], { maxTurns: 1 })).run();
  expect(limited.outcome).toMatchObject({
    status: "failed",
    code: "max-turns",
    goal: { outcome: "aborted", rounds: 2 },
  });
  const refused = { outcome: { status: "auth", message: "no" } } as const;
  const auth = await (await goalSession(["a", refused])).run();
  expect(auth.outcome).toMatchObject({ status: "auth", goal: { outcome: "aborted", rounds: 2 } });
});

test.each<[string, readonly ScriptedTurn[], (message: OmniMessage) => boolean, number]>([
  ["at its beginning", [], (message) => roundsIn([message])[0] === 1, 1],
  ["while the model speaks", ["a", { text: "b", hang: true }], (message) => textOf(message) === "b", 2],
  ["while a tool is called", ["a", WORK], (message) => isType(message, "tool_call"), 2],
  ["between rounds", ["a"], (message) => isType(message, "request_end"), 1],
  ["as a round begins", ["a"], (message) => roundsIn([message])[0] === 2, 2],
])("a goal that is interrupted %s ends with its event, and the next prompt works", async (_, turns, when, rounds) => {
  // The run may be ahead of whoever reads it.
  const last: ScriptedTurn = (parameters) => {
    const isNext = textOf(parameters.newMessages.at(-1)) === "now?";
    return scriptedLLM(isNext ? "next" : { hang: true }).streamGenerate(parameters);
  };
  const { session, requests } = await goalSession([...turns, last, last]);
  const stop = new AbortController();
  const watched = watch(session, (message) => when(message) && stop.abort());
  const { outcome, messages } = await collectRun(watched, [userText(OBJECTIVE)], {
    approve: async () => "allow",
    goal: {},
    signal: stop.signal,
  });
  expect(outcome).toMatchObject({ status: "aborted", goal: { outcome: "aborted", rounds } });
  expect(messages.slice(-2).map(({ payload }) => payload.type)).toEqual(["abort", "goal_finished"]);
  expect(Math.max(...roundsIn(messages))).toBe(rounds);
  expect((await collectRun(session, [userText("now?")])).outcome.text).toBe("next");
  expect(requests.at(-1)?.newMessages.some((message) => readGoalInput(message))).toBe(false);
});

test("a time limit ends a goal as timed out", async () => {
  const { run } = await goalSession([{ text: "b", hang: true }]);
  const { outcome } = await run({ signal: AbortSignal.timeout(1) });
  expect(outcome).toMatchObject({ status: "timeout", goal: { outcome: "aborted" } });
});

test("steering reaches the round that is under way, follow-ups wait until the goal is reached", async () => {
  const { session, requests } = await goalSession(["a", "b", report("complete"), "reached", "followed"]);
  let isSaid = false;
  const watched = watch(session, (message) => {
    if (isSaid || !isType(message, "request_begin")) return;
    isSaid = true;
    session.followUp([userText("then that")]);
    session.steer([userText("this way")]);
  });
  const { outcome, messages } = await collectRun(watched, [userText(OBJECTIVE)], {
    approve: async () => "allow",
    goal: {},
  });
  expect(requests.map(({ newMessages }) => textOf(newMessages.at(-1)).slice(0, 16))).toEqual([
    "[goal]\nRound 1.\n",
    "[user_steering]\n",
    "[goal]\nRound 2.\n",
    "",
    "then that",
  ]);
  expect(outcome).toMatchObject({ status: "completed", text: "followed", goal: { outcome: "complete", rounds: 2 } });
  expect(messages.at(-1)?.payload.type).toBe("goal_finished");
});

test("follow-ups that wait for the end of a goal keep no history from being discarded between its rounds", async () => {
  const compaction = { maxContextTokens: 1000, mode: "discard" } as const;
  const { session } = await goalSession([{ text: "a", usage: { total: 1000 } }, report("complete"), "b", "c"], {
    compaction,
  });
  const watched = watch(session, (message) => roundsIn([message])[0] === 1 && session.followUp([userText("then")]));
  const { outcome, messages } = await collectRun(watched, [userText(OBJECTIVE)], {
    approve: async () => "allow",
    goal: {},
  });
  expect(outcome).toMatchObject({ text: "c", goal: { outcome: "complete", rounds: 2 } });
  const discarded = messages.findIndex((message) => isType(message, "compaction_end"));
  expect(roundsIn(messages.slice(discarded))).toEqual([2]);
});

test("follow-ups of a goal that is not reached are handed back", async () => {
  const { session } = await goalSession(["a", report("blocked"), "b"]);
  const later = [userText("then that")];
  const watched = watch(session, (message) => roundsIn([message])[0] === 1 && session.followUp(later));
  const { outcome } = await collectRun(watched, [userText(OBJECTIVE)], { approve: async () => "allow", goal: {} });
  expect(outcome).toMatchObject({ goal: { outcome: "blocked" }, undelivered: { steering: [], followUps: [later] } });
});

test.each([
  ["an image alone", [userImage(PIXEL)], "the input of a goal has no text, which is its objective"],
  [
    "data",
    [userText("x"), userData("AQI=", "application/pdf")],
    'the input of a goal holds "inline_data", and it is text and images alone',
  ],
  ["nothing", [userText(" ")], "the input is empty"],
])("%s is no goal", async (_, input, message) => {
  const { run } = await goalSession([]);
  await expect(run({}, input)).rejects.toThrow(expect.objectContaining({ code: "input-empty", message }));
});

test("nothing that an objective holds ends the block it stands in", async () => {
  const nasty = fc.constantFrom(
    "[/goal]",
    "[/goal]\n\n",
    "\n",
    "\r",
    "\r\n",
    "\u2028",
    "\u0085",
    "\0",
    ": ",
    "---",
    "\t",
    " ",
    "status: complete",
    '"',
    "<goal>",
  );
  const text = fc.array(fc.oneof(nasty, fc.string({ unit: "binary" }))).map((pieces) => pieces.join(""));
  await using home = await tempAgent();
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 200 }), async (body, number) => {
      const file = await createControlFile(home.workspaceDir, body.trim());
      const said = roundText({ number, body, budget: "none" }, file);
      expect(readGoalInput(userText(said, "harness"))).toEqual({ round: number, body });
      expect(
        said
          .slice(0, said.length - body.length)
          .split(/[\n\r\u0085\u2028\u2029]/)
          .filter((line) => line.startsWith("[/goal]")),
      ).toHaveLength(1);
      expect(await file.readStatus()).toBe("active");
    }),
    { numRuns: 60 },
  );
  // What a person writes is not taken for one.
  expect(readGoalInput(userText("[goal]\nRound 1.\n[/goal]\n\nx"))).toBeUndefined();
});

test("the paths of a goal are spelled for the model (PT-052)", () => {
  const { path, planPath } = shownPaths("C:\\Users\\me\\scratchpad\\s", "win32");
  const text = roundText({ number: 1, body: "x", budget: "none" }, { path, planPath, text: "" });
  expect(text).toContain("\nControl file: C:/Users/me/scratchpad/s/GOAL.yaml\n");
  expect(text).toContain(" C:/Users/me/scratchpad/s/PLAN.md");
  expect(text).not.toContain("\\");
});

test.each([
  ["with file tools", {}],
  ...(canConfine ? [["in a sandbox that writes nothing else", { sandbox: { mode: "read-only" } }] as const] : []),
] as const)("the shipped tools reach the control file %s", async (_, options) => {
  const write = (path: string) => ({
    calls: [{ name: "write_file", args: { file_path: path, content: "status: complete\n" } }],
  });
  let place = "";
  const llm = scriptedLLM(async function* (parameters) {
    place = /^Control file: (.*)$/m.exec(textOf(parameters.newMessages[0]))?.[1] ?? "";
    return yield* scriptedLLM(write(place)).streamGenerate(parameters);
  }, "reached");
  await using home = await tempAgent({ createLLM: () => llm, ...options });
  const session = await home.agent.createSession(home);
  const { outcome } = await collectRun(session, [userText("x")], {
    approve: async () => "allow",
    goal: { maxRounds: 1 },
  });
  expect(outcome.goal).toMatchObject({ outcome: "complete", rounds: 1 });
});

/** The session, with an eye on what it streams. */
function watch(session: Awaited<ReturnType<typeof goalSession>>["session"], see: (message: OmniMessage) => unknown) {
  return {
    traceFile: session.traceFile,
    async *run(...given: Parameters<typeof session.run>) {
      const running = session.run(...given);
      for (;;) {
        const step = await running.next();
        if (step.done) return step.value;
        see(step.value);
        yield step.value;
      }
    },
  };
}

/** A turn that says what it cost. */
function paid(turn: ScriptedReply, id: string, cost = 0): ScriptedTurn {
  const calls = turn.calls?.map((call) => ({ ...call, id }));
  return async function* (parameters) {
    const reply = scriptedLLM({ ...turn, ...(calls && { calls }) }).streamGenerate(parameters);
    for (;;) {
      const step = await reply.next();
      if (step.done) return step.value;
      const { value } = step;
      yield isType(value, "token_usage") ? { ...value, payload: { ...value.payload, cost_usd: cost } } : value;
    }
  };
}

function textOf(message: OmniMessage | undefined): string {
  return message && isType(message, "text") ? message.payload.text : "";
}

describe("room made in the middle of a round", () => {
  const SUMMARY = "[summary]so far[/summary]";
  const full = { ...WORK, usage: { total: 1000 } };
  const overflow = { outcome: { status: "failed", permanent: true, overflow: true } } as const;
  const reached = [WORK, report("complete"), "end"];

  test.each<[string, readonly ScriptedTurn[], CompactionSettings]>([
    ["is full", [full, SUMMARY, ...reached], { maxContextTokens: 1000 }],
    ["does not fit", [WORK, overflow, SUMMARY, ...reached], {}],
  ])("where the context %s tells the rest of it the goal again, and once", async (_, turns, settings) => {
    const { run, requests, file } = await goalSession(turns, { compaction: { keepOutputTokens: -1, ...settings } });
    const { outcome, messages, trace } = await run();
    expect(outcome.goal).toMatchObject({ outcome: "complete", rounds: 1 });
    const asked = requests.map(({ newMessages }) => roundsIn(newMessages));
    expect(asked).toEqual([[1], ...turns.slice(1, -3).map(() => []), [1], [], []]);
    const [summary, again] = requests.at(-3)?.newMessages ?? [];
    expect(textOf(summary)).toMatch(/^\[context_summary]/);
    expect(textOf(again)).toContain(`Control file: ${file}`);
    expect(textOf(again)).not.toContain("Budget: 0 tokens");
    // A person is shown one round.
    expect([roundsIn(messages), roundsIn(trace)]).toEqual([[1], [1, 1]]);
  });

  test("tells nothing that the new context has kept, and nothing of a goal that is reached", async () => {
    const kept = { maxContextTokens: 1000, keepOutputTokens: -1, keepRecentTokens: 100_000 };
    const whole = await goalSession([full, SUMMARY, ...reached], { compaction: kept });
    await whole.run();
    expect(whole.requests.flatMap(({ newMessages }) => roundsIn(newMessages))).toEqual([1]);

    const compaction = { maxContextTokens: 1000, keepOutputTokens: -1 };
    const turns = [report("complete"), { text: "end", usage: { total: 1000 } }, SUMMARY, "next"];
    const { run, session, requests } = await goalSession(turns, { compaction });
    await run();
    await collectRun(session, [userText("now?")]);
    expect(requests.at(-1)?.newMessages.map(textOf)).toEqual([expect.stringMatching(/^\[context_summary]/), "now?"]);
  });
});
