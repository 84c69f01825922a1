import { expect, test } from "vitest";
import { catalogueProviders } from "../llm/catalogue/catalogue.ts";
import { chooseModel } from "./choose-model.ts";

test("the model is the wish, else ROOKERY_MODEL, else the project's default", async () => {
  const config = { default_model: { provider: "custom", model_id: "c" } };
  const env = { ROOKERY_MODEL: "hub/org/b", OPENAI_API_KEY: "k" };
  expect(await chooseModel({ provider: "custom", modelId: "a" }, config, env)).toEqual({
    provider: "custom",
    model_id: "a",
  });
  expect(await chooseModel({}, config, env)).toEqual({ provider: "hub", model_id: "org/b" });
  expect(await chooseModel({}, config, { OPENAI_API_KEY: "k" })).toEqual(config.default_model);
});

test("with the key of one provider set, it is that provider's default model of the catalogue", async () => {
  expect(await chooseModel({}, {}, { DEEPSEEK_API_KEY: "k", UNKNOWN_API_KEY: "k", OPENAI_API_KEY: "" })).toEqual({
    provider: "deepseek",
    model_id: "deepseek-v4-pro",
  });
  expect(await chooseModel({}, {}, { DASHSCOPE_API_KEY: "k" })).toEqual({ provider: "qwen", model_id: "qwen-plus" });
});

test("with several keys set the error lists the models they are for, and no key", async () => {
  await expect(chooseModel({}, {}, { OPENAI_API_KEY: "sk-1", ANTHROPIC_API_KEY: "sk-2" })).rejects.toMatchObject({
    code: "model-missing",
    message: "no model is chosen, and several keys are set: ANTHROPIC_API_KEY, OPENAI_API_KEY",
    hint:
      "pass --model anthropic/claude-sonnet-5 (or openai/gpt-5.4), or choose for good: rookery config model add " +
      "anthropic/claude-sonnet-5 --set-default",
  });
});

test("the key of any provider of the catalogue is enough", async () => {
  for (const { id, key_variable, default_model_id } of await catalogueProviders()) {
    expect(await chooseModel({}, {}, { [key_variable]: "k" })).toEqual({ provider: id, model_id: default_model_id });
  }
});

test("with nothing chosen the error has the three shortest ways to a model, ready to be pasted", async () => {
  await expect(chooseModel({}, {}, {})).rejects.toMatchObject({
    code: "model-missing",
    message: "no model is chosen",
    hint:
      "set a provider's key, as in: export ANTHROPIC_API_KEY=KEY; or store a model and its key: rookery config model add " +
      "openai/gpt-5.4 --set-default; or use a server of your own, Ollama or any that speaks OpenAI's protocol: " +
      'rookery run --model local/qwen3 --base-url http://127.0.0.1:11434/v1 "PROMPT"',
  });
});

test("where models are stored, the error leads to them", async () => {
  const config = { models: [{ provider: "hub", model_id: "org/m" }] };
  await expect(chooseModel({}, config, {})).rejects.toMatchObject({
    message: "no model is chosen",
    hint: "take a stored one, as in: rookery config model default hub/org/m; rookery config model list shows them",
  });
});

test("the models that the error names are defaults of the catalogue", async () => {
  for (const variable of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]) {
    const { provider, model_id } = await chooseModel({}, {}, { [variable]: "k" });
    expect(["anthropic/claude-sonnet-5", "openai/gpt-5.4"]).toContain(`${provider}/${model_id}`);
  }
});

test("a ROOKERY_MODEL without both parts is a usage error", async () => {
  await expect(chooseModel({}, {}, { ROOKERY_MODEL: "gpt-5" })).rejects.toMatchObject({
    code: "usage",
    message: 'ROOKERY_MODEL must be PROVIDER/MODEL_ID, got "gpt-5"',
  });
});
