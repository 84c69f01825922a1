import { expect, test } from "vitest";
import { modelPair, parseModelName } from "./model-name.ts";

test("a model's name is split at its first slash", () => {
  expect(parseModelName("hub/org/model:7b", "--model")).toEqual({ provider: "hub", model_id: "org/model:7b" });
});

test.each(["", "/", "gpt-5", "/gpt-5", "openai/"])("the name %j is a usage error", (text) => {
  expect(thrown(() => parseModelName(text, "--model"))).toMatchObject({
    code: "usage",
    message: `--model must be PROVIDER/MODEL_ID, got ${JSON.stringify(text)}`,
    hint: "write it like openai/gpt-5 or local/qwen3",
  });
});

test.each(["a/b\n\u001b[31m", "a/b c", "a\t/b", "a/b\u0000", "a/b\u202egpj", "a/b\u00a0", " a/b"])(
  "the name %j is a usage error for what it hides, from either form",
  (text) => {
    const error = {
      code: "usage",
      message: `the model's name ${JSON.stringify(text)} has blanks or control characters`,
      hint: "write it as the provider does, without them",
    };
    expect(thrown(() => parseModelName(text, "--model"))).toMatchObject(error);
    const [provider = "", modelId = ""] = text.split("/");
    expect(thrown(() => modelPair({ provider, modelId }))).toMatchObject(error);
  },
);

test("half a pair is a usage error", () => {
  expect(thrown(() => modelPair({ provider: "openai" }))).toMatchObject({
    code: "usage",
    message: 'the provider "openai" came without a model id',
    hint: "give both, as --model PROVIDER/MODEL_ID",
  });
  expect(thrown(() => modelPair({ modelId: "gpt-5" })).message).toBe('the model id "gpt-5" came without a provider');
});

function thrown(action: () => unknown): Error & { code?: string; hint?: string } {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("nothing was thrown");
}
