import { expect, test } from "vitest";
import { keyResolver, keySource, keyVariable } from "./model-key.ts";

const lab = { provider: "my.lab", model_id: "m" };
const remote = "https://lab.example/v1";

test("a key's variable is the provider in capitals, other signs as underscores", () => {
  expect(keyVariable("my-lab.v2")).toBe("MY_LAB_V2_API_KEY");
});

test("the key is the entry's, its command's output, the environment's", async () => {
  const env = { ...process.env, MY_LAB_API_KEY: "from-env" };
  const command = { ...lab, key_command: "printf '  from-command \\n'" };
  const stored = { ...command, api_key: "stored" };
  expect(await (await keyResolver(lab, stored, remote, env))()).toBe("stored");
  expect(await (await keyResolver(lab, command, remote, env))()).toBe("from-command");
  expect(await (await keyResolver(lab, lab, remote, env))()).toBe("from-env");
  expect(await Promise.all([stored, command, lab].map((entry) => keySource(entry, env)))).toEqual([
    "stored",
    "key_command",
    "MY_LAB_API_KEY",
  ]);
  expect(await keySource(lab, {})).toBeUndefined();
});

test("of a provider of the catalogue the variable that its vendor reads counts too", async () => {
  const qwen = { provider: "qwen", model_id: "qwen-plus" };
  expect(await keySource(qwen, { DASHSCOPE_API_KEY: "a" })).toBe("DASHSCOPE_API_KEY");
  expect(await keySource(qwen, { DASHSCOPE_API_KEY: "a", QWEN_API_KEY: "b" })).toBe("QWEN_API_KEY");
  expect(await (await keyResolver(qwen, undefined, remote, { DASHSCOPE_API_KEY: "a" }))()).toBe("a");
  await expect(keyResolver(qwen, undefined, remote, {})).rejects.toMatchObject({
    code: "model-auth",
    hint: "set DASHSCOPE_API_KEY, or store a key with rookery config model add",
  });
});

test("a changed variable is seen by the next request", async () => {
  const env: NodeJS.ProcessEnv = { MY_LAB_API_KEY: "old" };
  const resolve = await keyResolver(lab, undefined, remote, env);
  env.MY_LAB_API_KEY = "new";
  expect(await resolve()).toBe("new");
});

test.each([
  "http://127.0.0.1:1/v1",
  "http://localhost:1",
  "http://[::1]:1/v1",
  "http://[::ffff:127.0.0.1]:1/v1",
  "http://127.8.9.1/v1",
])("a server on this machine needs no key: %s", async (baseUrl) => {
  expect(await (await keyResolver(lab, undefined, baseUrl, {}))()).toBeUndefined();
});

test.each(["https://api.example/v1", "http://127.0.0.1.example/v1", "http://localhost.example/v1"])(
  "a server elsewhere needs one, and the error names its variable: %s",
  async (baseUrl) => {
    await expect(keyResolver(lab, undefined, baseUrl, {})).rejects.toMatchObject({
      code: "model-auth",
      message: 'no key is known for the provider "my.lab"',
      hint: "set MY_LAB_API_KEY, or store a key with rookery config model add",
    });
  },
);

test("a key command that fails or prints nothing says so without its output", async () => {
  const resolve = (key_command: string) => keyResolver(lab, { ...lab, key_command }, remote, process.env);
  await expect((await resolve("echo sk-secret; echo sk-secret >&2; exit 3"))()).rejects.toMatchObject({
    code: "model-auth",
    message: "key_command of my.lab/m failed with 3",
    hint: "run it by hand and correct it",
  });
  await expect((await resolve("true"))()).rejects.toThrow("key_command of my.lab/m printed nothing");
});

test("a key command that waits for input gets its end", async () => {
  const resolve = await keyResolver(lab, { ...lab, key_command: "cat; echo k" }, remote, process.env);
  expect(await resolve()).toBe("k");
});
