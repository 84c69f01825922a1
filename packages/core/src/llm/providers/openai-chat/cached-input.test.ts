import { expect, test } from "vitest";
import { collectReply } from "../../../../test/support/collect-reply.ts";
import { startRawProvider } from "../../../../test/support/raw-provider.ts";
import { userText } from "../../../omnimessage/build.ts";
import { GenerativeModel } from "../../generative-model.ts";

const counts = { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010 };
const details = { prompt_tokens_details: { cached_tokens: 300 } };

test.each([
  ["DeepSeek's own field", { prompt_cache_hit_tokens: 900, prompt_cache_miss_tokens: 100 }, 900],
  ["Moonshot's own field", { cached_tokens: 900 }, 900],
  ["the usual field", details, 300],
  ["the usual field beside another", { ...details, cached_tokens: 900 }, 300],
  ["another where the usual one says none", { prompt_tokens_details: { cached_tokens: 0 }, cached_tokens: 900 }, 900],
  ["none for a count that is no number", { cached_tokens: "900", prompt_cache_hit_tokens: null }, 0],
  ["none for a count below zero", { cached_tokens: -1 }, 0],
])("input from the cache is counted by %s", async (_, fields, cache_read) => {
  const usage = { ...counts, ...fields };
  const chunks = [
    { index: 0, delta: { content: "Hi" } },
    { index: 0, delta: {}, finish_reason: "stop" },
  ];
  const events = [...chunks.map((choice) => ({ id: "c", choices: [choice] })), { id: "c", choices: [], usage }];
  const body = `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`;
  const server = await startRawProvider({ body });
  const pricing = { input: 1, cache_read: 0.1, cache_write: 1, output: 0 };
  const model = new GenerativeModel({
    modelId: "m",
    clientType: "openai-chat",
    baseUrl: server.url,
    tools: [],
    pricing,
  });
  const got = await collectReply(model, { newMessages: [userText("Hi")] });
  expect(got.usage?.request).toEqual({ cache_read, cache_write: 1000 - cache_read, output: 10, total: 1010 });
  expect(got.usage?.cost_usd).toBeCloseTo((1000 - cache_read * 0.9) / 1e6, 12);
  await server.close();
});
