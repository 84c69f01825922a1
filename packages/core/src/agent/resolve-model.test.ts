import { expect, test } from "vitest";
import type { ModelEntry } from "./project-config.ts";
import { resolveModel } from "./resolve-model.ts";

const local = { provider: "custom", modelId: "local", baseUrl: "http://127.0.0.1:8080/v1" };
const deepseek = { provider: "deepseek", modelId: "deepseek-v4-pro" };
const key = { DEEPSEEK_API_KEY: "k" };

test("the address is the wish's, the entry's, the environment's, the catalogue's", async () => {
  const models = [{ provider: "deepseek", model_id: "deepseek-v4-pro", base_url: "http://localhost:2/v1" }];
  const env = { ...key, DEEPSEEK_BASE_URL: "http://localhost:3/v1" };
  const addressOf = async (...parameters: Parameters<typeof resolveModel>): Promise<string> =>
    (await resolveModel(...parameters)).baseUrl;
  expect(await addressOf({ ...deepseek, baseUrl: "http://localhost:1/v1" }, { models }, env)).toBe(
    "http://localhost:1/v1",
  );
  expect(await addressOf(deepseek, { models }, env)).toBe("http://localhost:2/v1");
  expect(await addressOf(deepseek, {}, env)).toBe("http://localhost:3/v1");
  expect(await addressOf(deepseek, {}, key)).toBe("https://api.deepseek.com");
});

test("a provider without an address is a configuration error that says where to put one", async () => {
  await expect(resolveModel({ provider: "my-lab", modelId: "m" }, {}, { MY_LAB_API_KEY: "k" })).rejects.toMatchObject({
    code: "config-invalid",
    message: 'no address is known for the provider "my-lab"',
    hint: "pass --base-url, set MY_LAB_BASE_URL, or store it with rookery config model add my-lab/m --base-url URL",
  });
});

test.each([
  ["opnai", "openai"],
  ["Anthropic", "anthropic"],
  ["google", "gemini"],
  ["dashscope", "qwen"],
])("the unknown provider %s leads to %s", async (provider, meant) => {
  await expect(resolveModel({ provider, modelId: "m" }, {}, {})).rejects.toMatchObject({
    code: "config-invalid",
    hint: expect.stringMatching(`^did you mean ${meant}\\? otherwise pass --base-url, set `),
  });
});

test.each(["ftp://x/v1", "localhost:8080", "", "/v1"])("the address %j is refused", async (baseUrl) => {
  await expect(resolveModel({ ...local, baseUrl }, {}, {})).rejects.toThrow(
    `the base URL must be an http or https address, got ${JSON.stringify(baseUrl)}`,
  );
});

test("an address that is refused is told by its place", async () => {
  const entry = { provider: "custom", model_id: "local", base_url: "x" };
  const wish = { provider: "custom", modelId: "local" };
  await expect(resolveModel(wish, { models: [entry] }, {})).rejects.toThrow(
    'base_url of custom/local must be an http or https address, got "x"',
  );
  await expect(resolveModel(wish, {}, { CUSTOM_BASE_URL: "y" })).rejects.toThrow(
    'CUSTOM_BASE_URL must be an http or https address, got "y"',
  );
});

test("a protocol that is not built in is refused", async () => {
  await expect(resolveModel({ ...local, clientType: "smoke" }, {}, {})).rejects.toMatchObject({
    code: "config-invalid",
  });
});

test("the protocol is the wish's, the entry's, the catalogue's, and else by the model's name", async () => {
  const models = [{ provider: "openai", model_id: "m", client_type: "openai-chat" }];
  const env = { OPENAI_API_KEY: "k", OPENROUTER_API_KEY: "k", MOONSHOT_API_KEY: "k" };
  const typeOf = async (...[wish, config]: [Parameters<typeof resolveModel>[0], Parameters<typeof resolveModel>[1]]) =>
    (await resolveModel(wish, config, env)).clientType;
  expect(await typeOf({ provider: "openai", modelId: "m" }, { models })).toBe("openai-chat");
  expect(await typeOf({ provider: "openai", modelId: "m", clientType: "openai-chat" }, {})).toBe("openai-chat");
  expect(await typeOf({ provider: "openai", modelId: "m" }, {})).toBe("openai-responses");
  expect(await typeOf({ provider: "openrouter", modelId: "anthropic/claude-sonnet-5" }, {})).toBe("openai-chat");
  expect(await typeOf({ ...local, modelId: "claude-x" }, {})).toBe("anthropic-messages");
});

test("what the catalogue knows of a model comes along, its own output limit only where the protocol asks for one", async () => {
  const choice = await resolveModel(deepseek, {}, key);
  expect(choice).toMatchObject({
    contextWindow: 1048576,
    vision: false,
    thinking: true,
    pricing: { input: 0.435, cache_read: 0.003625, cache_write: 0.435, output: 0.87 },
  });
  expect(choice.maxTokens).toBeUndefined();
  const claude = { provider: "anthropic", modelId: "claude-sonnet-5" };
  expect(await resolveModel(claude, {}, { ANTHROPIC_API_KEY: "k" })).toMatchObject({ maxTokens: 128000 });
});

test("an unknown model of a known provider has an address and a protocol, and no price", async () => {
  const choice = await resolveModel({ provider: "deepseek", modelId: "deepseek-v9" }, {}, key);
  expect(choice).toEqual({
    provider: "deepseek",
    modelId: "deepseek-v9",
    clientType: "openai-chat",
    baseUrl: "https://api.deepseek.com",
    resolveApiKey: expect.any(Function),
  });
});

test("what the entry says of the model goes before the catalogue", async () => {
  const entry: ModelEntry = {
    provider: "deepseek",
    model_id: "deepseek-v4-pro",
    headers: { A: "b" },
    context_window: 9,
    max_tokens: 3,
    vision: true,
    thinking_level: "low",
    pricing: { cache_read: 0, cache_write: 1, output: 2 },
  };
  expect(await resolveModel(deepseek, { models: [entry] }, key)).toMatchObject({
    headers: { A: "b" },
    contextWindow: 9,
    maxTokens: 3,
    vision: true,
    thinkingLevel: "low",
    pricing: entry.pricing,
  });
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("the price %d is refused", async (output) => {
  const entry = { provider: "custom", model_id: "local", pricing: { cache_read: 0, cache_write: 0, output } };
  await expect(resolveModel(local, { models: [entry] }, {})).rejects.toMatchObject({
    code: "config-invalid",
    message: `pricing.output of custom/local must be 0 or more, got ${output}`,
    hint: "give USD per million tokens",
  });
});
