import { expect, test } from "vitest";
import { traitsOf } from "./model-traits.ts";

test.each([
  ["claude-2.1", "none", 4096],
  ["claude-instant-1.2", "none", 4096],
  ["claude-3-opus-20240229", "none", 4096],
  ["claude-3-5-haiku-latest", "none", 8192],
  ["claude-3-7-sonnet@20250219", "budget", 32_000],
  ["claude-sonnet-4-20250514", "budget", 32_000],
  ["anthropic/claude-sonnet-4.5", "budget", 32_000],
  ["us.anthropic.claude-opus-4-6-v1:0", "adaptive", 64_000],
  ["Claude-Opus-4-10", "adaptive", 64_000],
  ["claude-opus-6", "adaptive", 64_000],
  ["claude-next", "none", 8192],
  ["deepseek-chat", "budget", 8192],
  ["", "budget", 8192],
])("%j thinks by %s, and writes %i tokens unless told otherwise", (modelId, thinking, maxTokens) => {
  expect(traitsOf(modelId)).toMatchObject({ thinking, maxTokens });
});

test("what a version is not known to take is not asked of it", () => {
  expect(traitsOf("claude-sonnet-4-6")).toMatchObject({ omitsThinking: false, xhigh: false, least: "disabled" });
  expect(traitsOf("claude-opus-4-10")).toMatchObject({ omitsThinking: true, xhigh: true, least: "disabled" });
  expect(traitsOf("claude-opus-6").least).toBe("low");
});
