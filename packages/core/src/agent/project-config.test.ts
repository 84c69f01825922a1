import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readProjectConfig } from "./project-config.ts";

test("a missing, an empty and a commented-out file are an empty configuration", async () => {
  expect(await readProjectConfig(await configFile())).toEqual({});
  expect(await readProjectConfig(await configFile(""))).toEqual({});
  expect(await readProjectConfig(await configFile("# nothing yet\n"))).toEqual({});
});

test("every key of a model is read", async () => {
  const models = [
    {
      provider: "custom",
      model_id: "local",
      client_type: "openai-chat",
      base_url: "http://127.0.0.1:8080/v1",
      api_key: "k",
      key_command: "pass show k",
      headers: { "X-Team": "a" },
      context_window: 1000,
      max_tokens: 100,
      vision: true,
      thinking_level: "high",
      pricing: { cache_read: 0.1, cache_write: 1, output: 2 },
    },
  ];
  const default_model = { provider: "custom", model_id: "local" };
  const config = { default_model, vision_model: default_model, models };
  expect(await readProjectConfig(await configFile(JSON.stringify(config)))).toEqual(config);
});

test("an unknown key is named with its file, its line and the nearest valid word", async () => {
  const file = await configFile("# models\nmodels:\n  - provider: openai\n    modle_id: gpt-5\n    model_id: gpt-5\n");
  await expect(readProjectConfig(file)).rejects.toMatchObject({
    code: "config-invalid",
    message: `${file}:4: models[0].modle_id is not a known key`,
    hint: "did you mean model_id?",
  });
});

test("an unknown key near to none is answered with the valid ones", async () => {
  const file = await configFile("temperature: 1\n");
  await expect(readProjectConfig(file)).rejects.toMatchObject({
    message: `${file}:1: temperature is not a known key`,
    hint: "use one of default_model, vision_model, models, compaction, images, undo, skills, command_policy, rules",
  });
});

test.each([
  ["models:\n- provider: openai\n", "1: models[0].model_id is missing", 2],
  ["\nmodels: yes\n", 'models must be a list, got "yes"', 2],
  ["- a\n", 'must be an object, got ["a"]', 1],
  ["models:\n- provider: a\n  model_id: b\n  vision: 3\n", "models[0].vision must be a boolean, got 3", 4],
  ["models:\n- provider: a\n  model_id: b\n  thinking_level: hgih\n", "models[0].thinking_level must be one of", 4],
])("a value of the wrong kind is named with its line: %j", async (text, message, line) => {
  const file = await configFile(text);
  const expected = message.replace(/^1: /, "");
  await expect(readProjectConfig(file)).rejects.toThrow(`${file}:${line}: ${expected}`);
});

test("a broken file is refused with its line, and no text of it is repeated", async () => {
  const file = await configFile('models:\n  - api_key: "sk-secret\n');
  const error = await readProjectConfig(file).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "config-invalid", hint: "correct the file; it was left as it is" });
  expect(error.message).toMatch(/project_config\.yaml:\d+: not valid YAML: /);
  expect(error.message).not.toContain("sk-secret");
});

test("a key or a header of the wrong kind is not repeated", async () => {
  const key = await configFile("models:\n- { provider: a, model_id: b, api_key: 4711 }\n");
  await expect(readProjectConfig(key)).rejects.toThrow(/models\[0\]\.api_key must be a string$/);
  const header = await configFile("models:\n- { provider: a, model_id: b, headers: { Authorization: 4711 } }\n");
  await expect(readProjectConfig(header)).rejects.toThrow(/models\[0\]\.headers\.Authorization must be a string$/);
});

test("rules and a policy are read as they are written", async () => {
  const file = await configFile(
    "rules: [{ allow: { path: 'src/**', access: write }, workspace: /w }]\n" +
      "command_policy: { enabled: false, rules: [{ name: a, pattern: b, enabled: false }] }\n",
  );
  expect(await readProjectConfig(file)).toEqual({
    rules: [{ allow: { path: "src/**", access: "write" }, workspace: "/w" }],
    command_policy: { enabled: false, rules: [{ name: "a", pattern: "b", enabled: false }] },
  });
});

test.each([
  ["rules: {}", "rules must be a list"],
  ["rules: [3]", "rules[0] must be an object, got 3"],
  ["rules: [{ allow: { tool: a }, deny: { tool: a } }]", "rules[0] needs exactly one of allow and deny"],
  ["rules: [{ deny: { path: a, access: all } }]", "rules[0].deny.access must be one of"],
  ["rules: [{ deny: { tool: a }, workspace: b }]", 'rules[0] needs an absolute workspace, got "b"'],
  ["command_policy: []", "command_policy must be an object"],
  ["command_policy: { rules: [{ name: a }] }", "command_policy.rules[0].pattern is missing"],
  ["command_policy: { rules: [{ name: a, pattern: '[' }] }", "rules[0].pattern is no regular expression"],
])("%j is refused and not silently ignored", async (text, message) => {
  await expect(readProjectConfig(await configFile(`models: []\n${text}\n`))).rejects.toMatchObject({
    code: "config-invalid",
    message: expect.stringContaining(message),
  });
});

test.each([
  ["keep_recent_tokens: -3", "compaction.keep_recent_tokens must be 0 or more, got -3"],
  ["keep_output_tokens: -2", "compaction.keep_output_tokens must be -1 or more, got -2"],
  ['prompt: " "', "compaction.prompt is empty"],
])("the compaction %s is refused with its line", async (line, words) => {
  const file = await configFile(`compaction:\n  mode: summarize\n  ${line}\n`);
  const message = `${file}:3: ${words}`;
  await expect(readProjectConfig(file)).rejects.toMatchObject({ code: "config-invalid", message });
  const fine = await configFile("compaction: { keep_output_tokens: -1, max_context_length: 0 }\n");
  expect(await readProjectConfig(fine)).toMatchObject({ compaction: { keep_output_tokens: -1 } });
});

test("the same key twice, and aliases without end, are refused", async () => {
  await expect(readProjectConfig(await configFile("models: []\nmodels: []\n"))).rejects.toThrow(":2: not valid YAML");
  const bomb = [
    "a: &a [x,x,x,x,x,x,x,x,x]",
    ..."bcdefgh".split("").map((name, i) => {
      const previous = "abcdefgh"[i];
      return `${name}: &${name} [${Array(9).fill(`*${previous}`).join(",")}]`;
    }),
  ];
  await expect(readProjectConfig(await configFile(bomb.join("\n")))).rejects.toMatchObject({ code: "config-invalid" });
});

test("a directory in place of the file is a configuration error", async () => {
  const directory = await mkdtemp(join(tmpdir(), "rookery-config-"));
  await expect(readProjectConfig(directory)).rejects.toMatchObject({
    code: "config-invalid",
    message: `cannot read ${directory}: EISDIR`,
  });
});

async function configFile(text?: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), "rookery-config-")), "project_config.yaml");
  if (text !== undefined) await writeFile(file, text);
  return file;
}
