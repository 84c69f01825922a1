import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { addModel } from "../src/agent/edit-project-config.ts";
import { agentPaths } from "../src/agent/paths.ts";
import type { ModelEntry } from "../src/agent/project-config.ts";
import { type ModelTest, type TestModelOptions, testModel } from "../src/agent/test-model.ts";
import { startRawProvider } from "./support/raw-provider.ts";
import { type StrictServer, startStrictServer } from "./support/strict-server.ts";

const report = (colour: string) => ({ name: "report_colour", args: { colour } });
const wish = { provider: "acme", modelId: "compat-1" };

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

test("of a model with which everything works, one call shows it", async () => {
  const usage = { input: 100, output: 20 };
  const turn = { thinking: "It is orange.", text: "The image is orange.", tools: [report("orange")], usage };
  const pricing = { cache_read: 1, cache_write: 1, output: 2 };
  const { result, server } = await run(turn, { pricing });
  expect(result).toEqual({
    ...{ provider: "acme", model_id: "compat-1", client_type: "openai-chat", base_url: `${server.url}/v1` },
    outcome: { status: "completed", finishReason: "tool_calls" },
    refused: [],
    streaming: { verdict: "yes", reason: expect.stringMatching(/^the reply came in \d+ pieces$/) },
    tools: { verdict: "yes", reason: "it called report_colour" },
    images: { verdict: "yes", reason: "it named the colour of the image, orange" },
    thinking: { verdict: "yes", reason: "thinking came with the reply" },
    usage: { cache_read: 0, cache_write: 100, output: 20, total: 120 },
    cost_usd: 0.00014,
  });
  expect(server.log).toHaveLength(1);
  expect(server.violations).toEqual([]);
  expect(JSON.stringify(server.log[0]?.body.messages)).toContain("data:image/png;base64,");
  expect(server.log[0]?.body.reasoning_effort).toBe("medium");
});

test("what does not show is not seen, and what is wrong is told", async () => {
  const seen = await verdicts({ text: "I cannot tell.", chunk: 100 });
  expect(seen).toEqual({
    streaming: "not seen: the reply came in one piece",
    tools: "not seen: it answered without a call",
    images: "not seen: it named no colour",
    thinking: "not seen: no thinking came with the reply",
  });
  expect(await verdicts({ text: "Hm", tools: [report("Blue")] })).toMatchObject({
    tools: "yes: it called report_colour",
    images: "no: it named blue, the image is orange",
  });
  expect(await verdicts({ text: "Orange, I think." })).toMatchObject({
    images: "yes: it named the colour of the image, orange",
  });
  expect(await verdicts({ tools: [{ name: "report_colour", argsText: '{"colour": ora' }] })).toMatchObject({
    tools: "no: the arguments of its call are no JSON object",
    images: "not seen: it named no colour",
  });
  expect(await verdicts({ tools: [{ name: "paint", args: {} }] })).toMatchObject({
    tools: "no: it called paint, which it was not offered",
  });
});

test.each([
  ["images", "This model does not support image input"],
  ["thinking", "reasoning_effort is not supported with this model"],
  ["tools", "this endpoint does not support tools"],
] as const)("a request that is refused for its %s is told in the provider's words", async (feature, message) => {
  const { result } = await run({ fault: { status: 400, message } });
  expect(result.outcome).toMatchObject({
    status: "failed",
    permanent: true,
    message: expect.stringContaining(message),
  });
  expect(result.refused).toEqual([feature]);
  const { streaming, tools, images, thinking } = result;
  const findings = { streaming, tools, images, thinking };
  for (const [name, finding] of Object.entries(findings)) {
    expect(finding).toEqual(
      name === feature
        ? { verdict: "no", reason: "the provider refused it" }
        : { verdict: "not seen", reason: "the request was refused" },
    );
  }
});

test.each([
  [404, "no endpoint takes images, tools and reasoning for this model"],
  [403, "images are for other plans"],
  [404, "The model `compat-1` does not exist"],
])("a request that is refused with HTTP %d says nothing of its parts: %s", async (status, message) => {
  const { result } = await run({ fault: { status, message } });
  expect(result.outcome).toMatchObject({ status: "failed", message: expect.stringContaining(message) });
  expect(result.refused).toEqual([]);
  expect(result.images.verdict).toBe("not seen");
});

test.each([
  ["The model `gpt-4-vision-preview` does not exist", []],
  ["kimi-vision-thinking: no such model", []],
  ['the tools of "vision-thinking." are off', ["tools"]],
])("the name of a model says nothing of what was refused: %s", async (message, refused) => {
  const modelId = /gpt-\S+preview|kimi-\S+(?=:)|vision-thinking/.exec(message)?.[0] ?? "";
  const provider = await startRawProvider({ status: 400, body: JSON.stringify({ error: { message } }) });
  closing.push(() => provider.close());
  for (const name of [modelId, `vendor/${modelId}`]) {
    const result = await testModel({ provider: "acme", modelId: name, baseUrl: provider.url, env: {} });
    expect(result.refused).toEqual(refused);
  }
});

test("debugFile holds the call and its answer without the key, and one that cannot be used stops the test", async () => {
  const directory = await mkdtemp(join(tmpdir(), "rookery-model-test-"));
  closing.push(() => rm(directory, { recursive: true }));
  const debugFile = join(directory, "debug.jsonl");
  const { server } = await run({ text: "Orange." }, {}, { debugFile });
  const text = await readFile(debugFile, "utf8");
  expect(text).toContain(`"url":"${server.url}/v1/chat/completions"`);
  expect(text).toContain('"event":"response_body"');
  expect(text).not.toContain("good-key");
  await expect(run({ text: "never" }, {}, { debugFile: directory })).rejects.toMatchObject({ code: "config-invalid" });
});

test("a model that is known to see no images is sent none, and the rest is tested", async () => {
  const { result, server } = await run({ text: "Orange it is.", tools: [report("orange")] }, { vision: false });
  expect(result.images).toEqual({ verdict: "no", reason: "it is known to see no images, and was sent none" });
  expect(result.tools.verdict).toBe("yes");
  expect(JSON.stringify(server.log[0]?.body.messages)).not.toContain("image");
});

test("a model that is known not to think is not asked to", async () => {
  const name = { provider: "moonshot", model_id: "moonshot-v1-128k" };
  const { result, server } = await run({ text: "Orange." }, name, { provider: "moonshot", modelId: name.model_id });
  expect(result.thinking).toEqual({ verdict: "no", reason: "it is known not to think, and was not asked to" });
  expect(server.log[0]?.body.reasoning_effort).toBeUndefined();
});

test("a refused key is an outcome and never shown", async () => {
  const { result } = await run({ text: "never" }, { api_key: "bad-key-0001" });
  expect(result.outcome.status).toBe("auth");
  expect(result.tools).toEqual({ verdict: "not seen", reason: "the request failed" });
  expect(JSON.stringify(result)).not.toContain("bad-key");
});

test("a key in the address is not in the result", async () => {
  const server = await startStrictServer({ scripts: { default: ["Orange."] } });
  closing.push(() => server.close());
  const baseUrl = `${server.url}/v1?api_key=sk-secret`;
  const result = await testModel({ ...wish, baseUrl, env: {} });
  expect(result.base_url).toBe(`${server.url}/v1?api_key=[redacted]`);
  expect(JSON.stringify(result)).not.toContain("sk-secret");
});

test("what was seen before a reply broke off counts", async () => {
  const { result } = await run({ thinking: "Hm.", text: "The image", chunk: 100, fault: { eof: true } });
  expect(result.outcome.status).toBe("malformed");
  expect(result.streaming.verdict).toBe("yes");
  expect(result.tools).toEqual({ verdict: "not seen", reason: "the request failed" });
  expect("usage" in result || "cost_usd" in result).toBe(false);
});

test("an interrupted test ends at once", async () => {
  const { result } = await run({ text: "never", fault: { stall: { after: 0 } } }, {}, { signal: AbortSignal.abort() });
  expect(result.outcome.status).toBe("aborted");
});

test("without a model, a key or an address nothing is sent", async () => {
  const root = await mkdtemp(join(tmpdir(), "rookery-model-test-"));
  closing.push(() => rm(root, { recursive: true }));
  const options = { root, env: {} };
  await expect(testModel(options)).rejects.toMatchObject({ code: "model-missing" });
  await expect(testModel({ ...options, provider: "openai", modelId: "m" })).rejects.toMatchObject({
    code: "model-auth",
  });
  await expect(testModel({ ...options, provider: "opnai", modelId: "m" })).rejects.toMatchObject({
    code: "config-invalid",
  });
  await expect(testModel({ ...options, provider: "openai" })).rejects.toMatchObject({ code: "usage" });
});

async function verdicts(turn: unknown): Promise<Record<string, string>> {
  const { streaming, tools, images, thinking } = (await run(turn)).result;
  const told = Object.entries({ streaming, tools, images, thinking });
  return Object.fromEntries(told.map(([name, { verdict, reason }]) => [name, `${verdict}: ${reason}`]));
}

/** Tests a stored model that answers so. */
async function run(
  turn: unknown,
  entry: Partial<ModelEntry> = {},
  options: TestModelOptions = {},
): Promise<{ result: ModelTest; server: StrictServer }> {
  const server = await startStrictServer({ apiKeys: ["good-key"], scripts: { default: [turn] } });
  const root = await mkdtemp(join(tmpdir(), "rookery-model-test-"));
  closing.push(
    () => server.close(),
    () => rm(root, { recursive: true }),
  );
  await addModel(agentPaths(root, "default_project", "default_agent").projectConfigFile, {
    ...{ provider: "acme", model_id: "compat-1", base_url: `${server.url}/v1`, api_key: "good-key" },
    ...entry,
  });
  return { result: await testModel({ ...wish, root, env: {}, ...options }), server };
}
