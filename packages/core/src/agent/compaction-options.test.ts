import { expect, test } from "vitest";
import { summaryModelOptions } from "./compaction-options.ts";

const own = { provider: "p", modelId: "own" };
const given = { baseUrl: "http://127.0.0.1:1/v1", clientType: "openai-chat", thinkingLevel: "high" } as const;
const named = (provider: string, model_id: string) => ({ compaction: { model: { provider, model_id } } });

test.each([
  ["the session's own model", "p", "own", { ...given, ...own }],
  [
    "another one of the provider",
    "p",
    "small",
    { baseUrl: given.baseUrl, clientType: given.clientType, provider: "p", modelId: "small" },
  ],
  ["one of another provider", "q", "small", { provider: "q", modelId: "small" }],
])("%s is asked for summaries by its name, with what is known to be its own", (_, provider, modelId, options) => {
  // A resumed session's options name no model.
  expect(summaryModelOptions(given, named(provider, modelId), own)).toEqual(options);
});

test("without a name there is no model for summaries alone", () => {
  expect(summaryModelOptions(given, {}, own)).toBeUndefined();
});
