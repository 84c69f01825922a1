import { eventMessage, isType, modelMessage, type RunOptions, userText } from "@rookery/core";
import { expect, test } from "vitest";
import { type AgentScript, fakeAgent, outcome } from "../../test/support/fake-agent.ts";
import { fakeIo } from "../../test/support/fake-io.ts";
import { rookery } from "../rookery.ts";

const goal = { outcome: "complete", rounds: 2, tokens_used: 12_345 } as const;
const round = (number: number) => userText(`[goal]\nRound ${number}.\nrules\n[/goal]\n\nfix it`, "harness");
/** Two rounds, and the goal is reached. */
const reaches: NonNullable<AgentScript["run"]> = async function* () {
  for (const number of [1, 2]) {
    yield round(number);
    yield eventMessage({ type: "request_begin" });
    yield modelMessage({ type: "partial_text", role: "assistant", event_type: "delta", text: `said ${number}\n` });
    yield eventMessage({ type: "request_end", status: "completed" });
  }
  yield eventMessage({ type: "goal_finished", ...goal });
  return outcome({ text: "said 2", goal });
};

test.each<[string, string[], RunOptions["goal"], string]>([
  ["without a budget, behind the prompt", ["fix it", "--goal"], {}, "fix it"],
  ["in front of the prompt", ["--goal", "fix it"], {}, "fix it"],
  ["in front of a word", ["--goal", "refactor"], {}, "refactor"],
  ["in front of --", ["--goal", "--", "200k"], {}, "200k"],
  ["with a budget", ["--goal", "20000", "fix it"], { budgetTokens: 20_000 }, "fix it"],
  ["in thousands", ["--goal=200k", "fix it"], { budgetTokens: 200_000 }, "fix it"],
  ["in millions", ["--goal", "1.5M", "fix it"], { budgetTokens: 1_500_000 }, "fix it"],
  ["with a prompt that begins with a number", ["--goal", "3 tests fail"], {}, "3 tests fail"],
  ["in front of another flag", ["--goal", "--max-cost", "2", "fix it"], {}, "fix it"],
])("--goal %s", async (_, argv, expected, prompt) => {
  let given: { options?: RunOptions; prompt?: unknown } = {};
  const agent = fakeAgent({
    pricing: { cache_read: 1, cache_write: 1, output: 2 },
    async *run(input, options) {
      given = {
        options,
        prompt: input.flatMap((message) => (isType(message, "text") ? message.payload.text : [])).join(),
      };
      return yield* reaches(input, options);
    },
  });
  expect(await rookery(["run", ...argv], fakeIo(), agent)).toBe(0);
  expect(given.options?.goal).toEqual(expected);
  expect(given.prompt).toBe(prompt);
});

test.each(["200x", "0", "-5", "1.2.3k", "", "9e9", "9999999999999k"])("--goal=%s is a usage error", async (value) => {
  const io = fakeIo();
  expect(await rookery(["run", `--goal=${value}`, "fix it"], io, fakeAgent({ run: reaches }))).toBe(2);
  expect(io.err()).toBe(
    `rookery: --goal takes a budget in tokens, got ${JSON.stringify(value)}; write it as in --goal=200k or --goal=1.5m, or leave it out for no limit\n`,
  );
});

test("a word behind --goal that is no budget is not the prompt where there is one", async () => {
  const io = fakeIo();
  expect(await rookery(["run", "--goal", "fix it", "now"], io, fakeAgent({ run: reaches }))).toBe(2);
  expect(io.err()).toContain('--goal takes a budget in tokens, got "fix it"');
});

test.each(["read-only", "deny-all"])(
  "a goal under --approve %s could never end, and is a usage error",
  async (mode) => {
    const io = fakeIo();
    expect(await rookery(["run", "--goal", "x", "--approve", mode], io, fakeAgent({ run: reaches }))).toBe(2);
    expect(io.err()).toContain(`--goal came together with --approve ${mode}`);
  },
);

test("rounds and the ending are lines on standard error, and json has the ending", async () => {
  const io = fakeIo();
  expect(await rookery(["run", "--goal", "fix it"], io, fakeAgent({ run: reaches }))).toBe(0);
  expect(io.out()).toBe("said 1\nsaid 2\n");
  expect(io.err()).toBe("goal: round 1\ngoal: round 2\ngoal: complete after 2 rounds, 12,345 tokens\n");
  const json = fakeIo();
  await rookery(["run", "--goal", "fix it", "--output", "json"], json, fakeAgent({ run: reaches }));
  expect(JSON.parse(json.out())).toMatchObject({ status: "completed", goal });
});

test.each([
  ["goal-blocked", "blocked", ""],
  ["budget", "budget_limited", '; go on with rookery run --continue --goal "OBJECTIVE"'],
] as const)("a goal that ends as %s exits 1", async (code, how, hint) => {
  const io = fakeIo();
  const ended = { outcome: how, rounds: 1, tokens_used: 1 };
  const agent = fakeAgent({
    async *run() {
      yield eventMessage({ type: "abort", code, reason: "so" });
      yield eventMessage({ type: "goal_finished", ...ended });
      return outcome({ status: "failed", code, message: "so", goal: ended });
    },
  });
  expect(await rookery(["run", "--goal", "fix it"], io, agent)).toBe(1);
  expect(io.err()).toBe(
    `goal: ${how.replace("_", " ")} after 1 round, 1 tokens\nrookery: failed (${code}): so${hint}\n`,
  );
});

test("a goal can be started in a session that goes on", async () => {
  const agent = fakeAgent({ run: reaches });
  expect(await rookery(["run", "--resume", "session-7", "--goal", "fix it"], fakeIo(), agent)).toBe(0);
  expect(agent.log[1]?.slice(0, 2)).toEqual(["resumeSession", "session-7"]);
});
