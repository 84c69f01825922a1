import { expect, test } from "vitest";
import { keyVariable, parseModelName, resolveModel } from "./resolve-model.ts";

const local = { provider: "custom", modelId: "local", baseUrl: "http://127.0.0.1:8080/v1" };

test("the model is the wish, else ROOKERY_MODEL, else the project's default", () => {
  const entry = (name: string) => ({ provider: "custom", model_id: name, base_url: "http://localhost:1/v1" });
  const config = { default_model: { provider: "custom", model_id: "c" }, models: ["a", "b", "c"].map(entry) };
  const env = { ROOKERY_MODEL: "custom/b" };
  expect(resolveModel({ provider: "custom", modelId: "a" }, config, env).modelId).toBe("a");
  expect(resolveModel({}, config, env).modelId).toBe("b");
  expect(resolveModel({}, config, {}).modelId).toBe("c");
});

test("with nothing chosen the error names the shortest ways", () => {
  expect(thrown(() => resolveModel({}, {}, {}))).toMatchObject({
    code: "model-missing",
    message: "no model is chosen",
    hint:
      "pass --model PROVIDER/MODEL_ID, set ROOKERY_MODEL, store one with rookery config model add PROVIDER/MODEL_ID " +
      "--set-default, or use a server of your own: --model local/NAME --base-url http://127.0.0.1:11434/v1",
  });
});

test("half a pair is a usage error", () => {
  expect(thrown(() => resolveModel({ provider: "openai" }, {}, {}))).toMatchObject({
    code: "usage",
    message: 'the provider "openai" came without a model id',
    hint: "give both, as --model PROVIDER/MODEL_ID",
  });
  expect(thrown(() => resolveModel({ modelId: "gpt-5" }, {}, {})).message).toBe(
    'the model id "gpt-5" came without a provider',
  );
});

test("the address is the wish's, the entry's, the environment's, and OpenAI's own for openai", () => {
  const models = [{ provider: "openai", model_id: "m", base_url: "http://localhost:2/v1" }];
  const env = { OPENAI_BASE_URL: "http://localhost:3/v1", OPENAI_API_KEY: "k" };
  const wish = { provider: "openai", modelId: "m" };
  expect(resolveModel({ ...wish, baseUrl: "http://localhost:1/v1" }, { models }, env).baseUrl).toBe(
    "http://localhost:1/v1",
  );
  expect(resolveModel(wish, { models }, env).baseUrl).toBe("http://localhost:2/v1");
  expect(resolveModel(wish, {}, env).baseUrl).toBe("http://localhost:3/v1");
  expect(resolveModel(wish, {}, { OPENAI_API_KEY: "k" }).baseUrl).toBe("https://api.openai.com/v1");
});

test("a provider without an address is a configuration error that says where to put one", () => {
  expect(thrown(() => resolveModel({ provider: "my-lab", modelId: "m" }, {}, { MY_LAB_API_KEY: "k" }))).toMatchObject({
    code: "config-invalid",
    message: 'no address is known for the provider "my-lab"',
    hint: "pass --base-url, set MY_LAB_BASE_URL, or store it with rookery config model add --base-url",
  });
});

test.each(["ftp://x/v1", "localhost:8080", "", "/v1"])("the address %j is refused", (baseUrl) => {
  expect(thrown(() => resolveModel({ ...local, baseUrl }, {}, {})).message).toBe(
    `the base URL must be an http or https address, got ${JSON.stringify(baseUrl)}`,
  );
});

test("a protocol that is not built in is refused", () => {
  expect(thrown(() => resolveModel({ ...local, clientType: "smoke" }, {}, {})).code).toBe("config-invalid");
});

test("the key is the entry's, its command's output, the environment's", async () => {
  const base = { provider: "my.lab", model_id: "m", base_url: "https://lab.example/v1" };
  const wish = { provider: "my.lab", modelId: "m" };
  const env = { ...process.env, MY_LAB_API_KEY: "from-env" };
  const both = { ...base, api_key: "stored", key_command: "echo from-command" };
  expect(await resolveModel(wish, { models: [both] }, env).resolveApiKey()).toBe("stored");
  const command = { ...base, key_command: "printf '  from-command \\n'" };
  expect(await resolveModel(wish, { models: [command] }, env).resolveApiKey()).toBe("from-command");
  expect(await resolveModel(wish, { models: [base] }, env).resolveApiKey()).toBe("from-env");
});

test("a changed variable is seen by the next request", async () => {
  const env: NodeJS.ProcessEnv = { OPENAI_API_KEY: "old" };
  const choice = resolveModel({ provider: "openai", modelId: "m" }, {}, env);
  env.OPENAI_API_KEY = "new";
  expect(await choice.resolveApiKey()).toBe("new");
});

test.each(["http://127.0.0.1:1/v1", "http://localhost:1", "http://[::1]:1/v1", "http://127.8.9.1/v1"])(
  "a server on this machine needs no key: %s",
  async (baseUrl) => {
    expect(await resolveModel({ ...local, baseUrl }, {}, {}).resolveApiKey()).toBeUndefined();
  },
);

test.each(["https://api.example/v1", "http://127.0.0.1.example/v1", "http://localhost.example/v1"])(
  "a server elsewhere needs one, and the error names its variable: %s",
  (baseUrl) => {
    expect(thrown(() => resolveModel({ ...local, baseUrl }, {}, {}))).toMatchObject({
      code: "model-auth",
      message: 'no key is known for the provider "custom"',
      hint: "set CUSTOM_API_KEY, or store a key with rookery config model add",
    });
  },
);

test("a key command that fails or prints nothing says so without its output", async () => {
  const choice = (key_command: string) =>
    resolveModel(local, { models: [{ provider: "custom", model_id: "local", key_command }] }, process.env);
  await expect(choice("echo sk-secret; echo sk-secret >&2; exit 3").resolveApiKey()).rejects.toMatchObject({
    code: "model-auth",
    message: "key_command of custom/local failed with 3",
    hint: "run it by hand and correct it",
  });
  await expect(choice("true").resolveApiKey()).rejects.toThrow("key_command of custom/local printed nothing");
});

test("a key command that waits for input gets its end", async () => {
  const models = [{ provider: "custom", model_id: "local", key_command: "cat; echo k" }];
  expect(await resolveModel(local, { models }, process.env).resolveApiKey()).toBe("k");
});

test("what the entry says of the model comes along", () => {
  const models = [
    {
      provider: "custom",
      model_id: "local",
      headers: { A: "b" },
      context_window: 9,
      max_tokens: 3,
      vision: false,
      thinking_level: "low" as const,
    },
  ];
  expect(resolveModel(local, { models }, {})).toMatchObject({
    clientType: "openai-chat",
    headers: { A: "b" },
    contextWindow: 9,
    maxTokens: 3,
    vision: false,
    thinkingLevel: "low",
  });
});

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

test("a key's variable is the provider in capitals, other signs as underscores", () => {
  expect(keyVariable("my-lab.v2")).toBe("MY_LAB_V2_API_KEY");
});

function thrown(action: () => unknown): Error & { code?: string; hint?: string } {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("nothing was thrown");
}
