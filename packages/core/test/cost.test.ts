import { afterEach, expect, test } from "vitest";
import { addModel } from "../src/agent/edit-project-config.ts";
import { agentPaths } from "../src/agent/paths.ts";
import type { ModelPricing } from "../src/llm/cost.ts";
import { GenerativeModel } from "../src/llm/generative-model.ts";
import { assistantText, eventMessage, userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import { runToEnd } from "../src/session/run-to-end.ts";
import type { Session } from "../src/session/session.ts";
import { collectRun, scriptedLLM, type TempAgent, tempAgent } from "../src/testing/index.ts";
import { collectReply } from "./support/collect-reply.ts";
import { type StrictServer, startStrictServer } from "./support/strict-server.ts";

const PRICING: ModelPricing = { input: 2, cache_read: 0.2, cache_write: 2.5, output: 10 };
const usage = { input: 1000, output: 100, cacheRead: 400 };
/** 600 tokens of plain input, 400 of cached input, 100 of output. */
const COST = 0.00228;
const call = { tools: [{ name: "exec_command", args: { cmd: "echo ran" } }], usage };
const go = [userText("go")];

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

test("each request says what it cost, and run and session what theirs cost together", async () => {
  const { session } = await open([call, { text: "done", usage }, { text: "again", usage }], PRICING);
  const { outcome, messages, trace } = await collectRun(session, go, { approve: async () => "allow" });
  expect(ofType(messages, "token_usage").map(({ payload }) => payload.cost_usd)).toEqual([COST, COST]);
  expect(ofType(trace, "token_usage").map(({ payload }) => payload.cost_usd)).toEqual([COST, COST]);
  expect(outcome).toMatchObject({ status: "completed", turns: 2, cost_usd: COST * 2 });
  await collectRun(session, go);
  expect(session.spent).toEqual({
    turns: 3,
    usage: { cache_read: 1200, cache_write: 1800, output: 300, total: 3300 },
    cost_usd: 0.00684,
  });
  expect(session.pricing).toEqual(PRICING);
});

test("without a price nothing is said of costs", async () => {
  const { session } = await open([{ text: "done", usage }]);
  const { outcome, messages } = await collectRun(session, go);
  expect(ofType(messages, "token_usage").map(({ payload }) => "cost_usd" in payload)).toEqual([false]);
  expect("cost_usd" in outcome || "cost_usd" in session.spent).toBe(false);
  expect(session.pricing).toBeUndefined();
});

test("an attempt that failed before its end is not in the costs", async () => {
  const { session } = await open([{ text: "done", usage, faults: [{ eof: { after: "delta:1" } }] }], PRICING);
  const running = collectRun(session, go);
  while (!session.skipReconnectWait()) await new Promise((resolve) => setImmediate(resolve));
  expect((await running).outcome).toMatchObject({ status: "completed", turns: 1, cost_usd: COST });
});

test("a task that has cost its limit makes no further request, and its calls have their outputs", async () => {
  const { session, server } = await open([call, call, { text: "never", usage }], PRICING);
  const { outcome, messages, trace } = await collectRun(session, go, {
    approve: async () => "allow",
    maxCostUsd: 0.003,
  });
  expect(outcome).toMatchObject({
    status: "failed",
    code: "budget",
    message: "the task has cost $0.00456, and its limit is $0.003",
    turns: 2,
    cost_usd: 0.00456,
  });
  expect(ofType(messages, "tool_call_output").map(({ payload }) => payload.stop_reason)).toEqual([
    "completed",
    "completed",
  ]);
  expect(trace.at(-1)?.payload).toMatchObject({ type: "abort", code: "budget", reason: outcome.message });
  expect(server.log).toHaveLength(2);
});

test("a task whose last reply goes beyond the limit has completed", async () => {
  const { session } = await open([{ text: "done", usage }], PRICING);
  const { outcome } = await collectRun(session, go, { maxCostUsd: 0.000001 });
  expect(outcome).toMatchObject({ status: "completed", text: "done", cost_usd: COST });
});

test.each([0, -1, Number.NaN])("a limit of %d allows no request", async (maxCostUsd) => {
  const { session, server } = await open([{ text: "never" }], PRICING);
  const { outcome } = await collectRun(session, go, { maxCostUsd });
  expect(outcome).toMatchObject({ status: "failed", code: "budget", turns: 0 });
  expect("cost_usd" in outcome).toBe(false);
  expect(server.log).toEqual([]);
});

test("a limit that cannot be kept, because costs are not known, ends the task after one request", async () => {
  const { session, server } = await open([call, { text: "never" }]);
  const { outcome } = await collectRun(session, go, { approve: async () => "allow", maxCostUsd: 1 });
  expect(outcome).toMatchObject({
    status: "failed",
    code: "budget",
    message: "what the task has cost is not known, so that its limit of $1 cannot be kept",
    turns: 1,
  });
  expect(server.log).toHaveLength(1);
});

test("a provider that counts less than nothing buys no further requests", async () => {
  const refund = { ...call, usage: { input: 1000, output: -10_000_000 } };
  const { session, server } = await open([refund, refund, { text: "never" }], PRICING);
  const { outcome } = await collectRun(session, go, { approve: async () => "allow", maxCostUsd: 0.000_000_1 });
  expect(outcome).toMatchObject({ status: "failed", code: "budget", turns: 1 });
  expect(outcome.message).toContain("its limit of $0.0000001 cannot be kept");
  expect(server.log).toHaveLength(1);
});

test("a model of the caller's own may tell its costs itself", async () => {
  const counts = { cache_read: 0, cache_write: 1, output: 1, total: 2 };
  const llm = scriptedLLM(async function* () {
    yield assistantText("done");
    yield eventMessage({ type: "token_usage", request: counts, session: counts, cost_usd: 0.1 });
    return { status: "completed" as const, finishReason: "stop" as const };
  });
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  expect((await runToEnd(session, go)).outcome).toMatchObject({ status: "completed", cost_usd: 0.1 });
  expect(session.spent.cost_usd).toBe(0.1);
});

test.each([
  ["anthropic-messages", "claude-sonnet-5", ""],
  ["openai-responses", "gpt-5.2", "/v1"],
  ["openai-chat", "compat-1", "/v1"],
  ["google", "gemini-2.5-flash", ""],
])("by %s every token is paid once, at the price of its kind", async (clientType, modelId, path) => {
  const server = await startStrictServer({ scripts: { default: [{ text: "done", usage }] } });
  closing.push(() => server.close());
  const llm = new GenerativeModel({
    modelId,
    clientType,
    apiKey: "k",
    baseUrl: `${server.url}${path}`,
    tools: [],
    maxTokens: 1000,
    pricing: PRICING,
  });
  const { messages, outcome } = await collectReply(llm, { newMessages: go });
  expect(outcome).toMatchObject({ status: "completed" });
  expect(ofType(messages, "token_usage").map(({ payload }) => payload)).toMatchObject([
    { request: { cache_read: 400, cache_write: 600, output: 100, total: 1100 }, cost_usd: COST },
  ]);
});

test("input that Anthropic wrote to its cache costs the price of writing it", async () => {
  const written = { input: 1000, output: 100, cacheRead: 400, cacheWrite: 500 };
  const server = await startStrictServer({ scripts: { default: [{ text: "done", usage: written }] } });
  closing.push(() => server.close());
  const llm = new GenerativeModel({
    modelId: "claude-sonnet-5",
    apiKey: "k",
    baseUrl: server.url,
    tools: [],
    maxTokens: 1000,
    pricing: PRICING,
  });
  const { messages } = await collectReply(llm, { newMessages: go });
  expect(ofType(messages, "token_usage")[0]?.payload).toMatchObject({
    request: { cache_read: 400, cache_write: 600 },
    cost_usd: 0.00253,
  });
});

/** A session with a model of this price, served by this script. */
async function open(turns: unknown, pricing?: ModelPricing): Promise<{ session: Session; server: StrictServer }> {
  const server = await startStrictServer({ scripts: { default: turns } });
  const temp: TempAgent = await tempAgent();
  closing.push(
    () => temp.dispose(),
    () => server.close(),
  );
  const entry = {
    provider: "acme",
    model_id: "compat-1",
    base_url: `${server.url}/v1`,
    api_key: "k",
    ...(pricing && { pricing }),
  };
  await addModel(agentPaths(temp.root, "default_project", "default_agent").projectConfigFile, entry, {
    setDefault: true,
  });
  return { session: await temp.agent.createSession({ workspaceDir: temp.workspaceDir }), server };
}
