import { eventMessage } from "@rookery/core";
import { expect, test } from "vitest";
import { type AgentScript, fakeAgent, outcome } from "../../test/support/fake-agent.ts";
import { fakeIo } from "../../test/support/fake-io.ts";
import { rookery } from "../rookery.ts";

const pricing = { cache_read: 1, cache_write: 1, output: 2 };
const usage = { cache_read: 0, cache_write: 1200, output: 34, total: 1234 };
const spends: NonNullable<AgentScript["run"]> = async function* () {
  yield eventMessage({ type: "request_begin" });
  return outcome({ text: "hi", usage, cost_usd: 0.0268 });
};

test.each([
  ["0.25", 0.25],
  [".5", 0.5],
  ["2.", 2],
])("--max-cost %s is the limit of the run, in USD", async (amount, expected) => {
  let limit: number | undefined;
  const agent = fakeAgent({
    pricing,
    async *run(input, options) {
      limit = options.maxCostUsd;
      return yield* spends(input, options);
    },
  });
  expect(await rookery(["run", "x", "--max-cost", amount], fakeIo(), agent)).toBe(0);
  expect(limit).toBe(expected);
});

test("--max-cost for a model without a price is a configuration error that says how to store one, and nothing is run", async () => {
  const io = fakeIo();
  let hasRun = false;
  const agent = fakeAgent({
    async *run(input, options) {
      hasRun = true;
      return yield* spends(input, options);
    },
  });
  expect(await rookery(["run", "x", "--max-cost", "1"], io, agent)).toBe(2);
  expect(io.err()).toBe(
    "rookery: --max-cost needs a price, and none is known for custom/local; store one with rookery config model add " +
      "custom/local --price INPUT,OUTPUT (USD per million tokens)\n",
  );
  expect(hasRun).toBe(false);
  expect(agent.log.at(-1)).toEqual(["agent disposed"]);
});

test.each(["0", "-1", ".", "free", "1e3", "$5", "9999999"])("--max-cost %s is a usage error", async (amount) => {
  const io = fakeIo();
  expect(await rookery(["run", "x", `--max-cost=${amount}`], io, fakeAgent({ pricing, run: spends }))).toBe(2);
  expect(io.err()).toBe(
    `rookery: --max-cost must be an amount in USD, got "${amount}"; give a number above 0 and up to 1000000\n`,
  );
});

test("a run that its budget ended failed", async () => {
  const io = fakeIo();
  const agent = fakeAgent({
    pricing,
    async *run() {
      yield eventMessage({ type: "request_begin" });
      return outcome({ status: "failed", code: "budget", message: "the task has cost $2, and its limit is $1" });
    },
  });
  expect(await rookery(["run", "x", "--max-cost", "1", "--output", "json"], io, agent)).toBe(1);
  expect(JSON.parse(io.out())).toMatchObject({ code: "budget", error: { code: "budget" } });
});

test("at a terminal the text ends with what the task took, dimmed", async () => {
  const io = fakeIo({ isTTY: true });
  expect(await rookery(["run", "x"], io, fakeAgent({ run: spends }))).toBe(0);
  expect(io.err()).toBe("\x1b[2m1,200 tokens in, 34 out, $0.0268\x1b[22m\n");
  const plain = fakeIo({ isTTY: true, env: { NO_COLOR: "1" } });
  await rookery(["run", "x"], plain, fakeAgent({ run: spends }));
  expect(plain.err()).toBe("1,200 tokens in, 34 out, $0.0268\n");
});

test("elsewhere it says nothing of it, and json has it", async () => {
  const io = fakeIo();
  await rookery(["run", "x"], io, fakeAgent({ run: spends }));
  expect(io.err()).toBe("");
  const json = fakeIo();
  await rookery(["run", "x", "--output", "json"], json, fakeAgent({ run: spends }));
  expect(JSON.parse(json.out())).toMatchObject({ usage, cost_usd: 0.0268 });
  expect(json.err()).toBe("");
});
