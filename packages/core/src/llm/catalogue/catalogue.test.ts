import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shapeProblems } from "../../omnimessage/shape.ts";
import {
  catalogueAge,
  catalogueModel,
  catalogueProvider,
  catalogueProviderFields,
  catalogueProviders,
} from "./catalogue.ts";

const providers = await catalogueProviders();
const models = providers.flatMap(({ id, models }) => models.map((model) => ({ provider: id, ...model })));

test("the file has the shape it is read as, and stays small", () => {
  const shape = { list: { fields: catalogueProviderFields } };
  expect(shapeProblems(shape, providers, { unknownKeys: true })).toEqual([]);
  expect(readFileSync(join(import.meta.dirname, "models.json")).length).toBeLessThan(60_000);
});

test("the file is what the generator makes of the data", () => {
  const script = join(import.meta.dirname, "../../../../../scripts/catalogue.mjs");
  const run = spawnSync(process.execPath, [script, "--check"], { encoding: "utf8" });
  expect(run).toMatchObject({ status: 0, stderr: "" });
});

test("the providers are there, sorted, each with an address that takes requests and a default that is listed", () => {
  const ids = providers.map(({ id }) => id);
  expect(ids).toEqual([...ids].sort());
  expect(ids).toEqual(
    expect.arrayContaining("anthropic deepseek gemini groq mistral moonshot openai openrouter qwen xai zai".split(" ")),
  );
  for (const { base_url, default_model_id: model, models, key_variable } of providers) {
    expect(base_url).toMatch(/^https:\/\/[\w.-]+(\/[\w.-]+)*$/);
    expect(key_variable).toMatch(/^[A-Z]+_API_KEY$/);
    // Of a provider without models on the list, an alias that stays.
    if (models.length > 0) expect(models.map(({ model_id }) => model_id)).toContain(model);
    else expect(model).toMatch(/-latest$/);
  }
});

test("the numbers of every model are plausible, and its ids are sorted and distinct", () => {
  const implausible = models.filter(({ context_window: window, max_tokens: max, pricing }) => {
    const { input, cache_read, cache_write, output } = pricing;
    const isCheap = cache_read <= input && input <= cache_write && input <= output;
    return window < 8192 || max < 1024 || max > window || output > 1000 || !isCheap;
  });
  expect(implausible).toEqual([]);
  for (const { models } of providers) {
    const ids = models.map(({ model_id }) => model_id);
    expect(ids).toEqual([...new Set(ids)].sort());
  }
});

test("writing Anthropic's cache costs a quarter more than other input", () => {
  for (const { pricing } of models.filter(({ provider }) => provider === "anthropic")) {
    expect(pricing.cache_write).toBeCloseTo(pricing.input * 1.25, 9);
  }
});

test.each([
  ["anthropic", "claude-haiku-4-5", "claude-haiku-4-5"],
  ["anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5"],
  ["anthropic", "claude-haiku-4-5@20251001", "claude-haiku-4-5"],
  ["anthropic", "claude-sonnet-5-latest", "claude-sonnet-5"],
  ["openai", "gpt-5.2-2025-12-11", "gpt-5.2"],
  ["openai", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13"],
])("%s/%s is known as %s", async (provider, modelId, known) => {
  expect((await catalogueModel(provider, modelId))?.model_id).toBe(known);
});

test.each([
  ["anthropic", "claude-opus-4-20250514"],
  ["anthropic", "claude-sonnet"],
  ["anthropic", "Claude-Sonnet-5"],
  ["openai", "gpt-5-chat-latest"],
  ["openai", "gpt-5.2-preview"],
  ["openai", "gpt-5.2-20251"],
  ["openai", "claude-sonnet-5"],
  ["google", "gemini-3.8-flash"],
  ["openai", ""],
  ["__proto__", "constructor"],
])("nothing is said of %s/%s", async (provider, modelId) => {
  expect(await catalogueModel(provider, modelId)).toBeUndefined();
});

test("a provider is found by its id alone", async () => {
  expect(await catalogueProvider("gemini")).toMatchObject({ name: "Google Gemini", key_variable: "GEMINI_API_KEY" });
  expect(await catalogueProvider("google")).toBeUndefined();
});

test("the age is in whole days, and never below zero", async () => {
  const { date } = await catalogueAge();
  expect(date).toMatch(/^20\d\d-\d\d-\d\d$/);
  const published = Date.parse(date);
  expect(await catalogueAge(new Date(published + 86_400_000 * 3.9))).toEqual({ date, days: 3 });
  expect(await catalogueAge(new Date(published - 1))).toEqual({ date, days: 0 });
});
