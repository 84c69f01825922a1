import { expect, test } from "vitest";
import { RookeryError } from "../../errors/rookery-error.ts";
import { assertClientType, inferClientType, loadClientType } from "./registry.ts";

test("the protocol follows from the model's name (PC-030)", () => {
  expect(inferClientType("claude-opus-4-7")).toBe("anthropic-messages");
  expect(inferClientType("us.anthropic.Claude-3")).toBe("anthropic-messages");
  expect(inferClientType("gemini-3-pro")).toBe("google");
  expect(inferClientType("gpt-5")).toBe("openai-chat");
  expect(inferClientType("qwen3")).toBe("openai-chat");
});

test("a protocol that is not there is a configuration error that names those that are", async () => {
  expect(() => assertClientType("openai-chat")).not.toThrow();
  for (const name of ["smoke-signals", "", "constructor", "__proto__"]) {
    const error = await loadClientType(name).catch((thrown: unknown) => thrown);
    if (!RookeryError.is(error)) throw error;
    expect(error.code).toBe("config-invalid");
    expect(error.message).toBe(`the client type ${JSON.stringify(name)} is not available`);
    expect(error.hint).toContain("openai-chat");
    expect(() => assertClientType(name)).toThrow(error.message);
  }
});
