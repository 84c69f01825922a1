import { expect, test } from "vitest";
import { modelSettings } from "./model-settings.ts";
import type { ModelEntry } from "./project-config.ts";

const name = { provider: "deepseek", model_id: "deepseek-v4-pro" };

test("each value is taken from the first place that says it", async () => {
  const entry: ModelEntry = { ...name, base_url: "http://stored/v1", client_type: "stored", context_window: 1 };
  const env = { DEEPSEEK_BASE_URL: "http://variable/v1" };
  const wish = { baseUrl: "http://flag/v1", clientType: "flagged" };
  expect(await modelSettings(name, { models: [entry] }, env, wish)).toMatchObject({
    client_type: { value: "flagged", source: "flag" },
    base_url: { value: "http://flag/v1", source: "flag" },
    context_window: { value: 1, source: "stored" },
    max_tokens: { value: 393216, source: "catalogue" },
  });
  expect(await modelSettings(name, { models: [entry] }, env)).toMatchObject({
    client_type: { value: "stored", source: "stored" },
    base_url: { value: "http://stored/v1", source: "stored" },
  });
  expect((await modelSettings(name, {}, env)).base_url?.source).toBe("DEEPSEEK_BASE_URL");
  expect((await modelSettings(name, {}, { DEEPSEEK_BASE_URL: "" })).base_url?.source).toBe("catalogue");
});

test("what the entry denies is not asserted by the catalogue", async () => {
  const seeing = { provider: "openai", model_id: "gpt-6-sol" };
  const { vision } = await modelSettings(seeing, { models: [{ ...seeing, vision: false }] }, {});
  expect(vision).toEqual({ value: false, source: "stored" });
});

test("of an unknown model of an unknown provider only the protocol is settled, by its name", async () => {
  const settings = await modelSettings({ provider: "hub", model_id: "some-claude" }, {}, {});
  expect(Object.entries(settings).filter(([, setting]) => setting !== undefined)).toEqual([
    ["client_type", { value: "anthropic-messages", source: "model name" }],
  ]);
});
