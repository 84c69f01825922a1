import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { catalogueProviders } from "@rookery/core";
import { expect, test } from "vitest";
import { fakeIo } from "../../test/support/fake-io.ts";
import { rookery } from "../rookery.ts";

test("list says on standard error that there is nothing", async () => {
  expect(await list("")).toEqual({
    code: 0,
    out: "",
    err: "rookery: no models are stored; those known by name: rookery config model list --available\n",
  });
  expect(await list("", ["--output", "json"])).toEqual({ code: 0, out: "[]\n", err: "" });
});

test("list shows each value with the place it comes from, and never a key", async () => {
  const config = `models:
  - { provider: a, model_id: m, api_key: sk-secret, base_url: "http://127.0.0.1:1/v1" }
  - { provider: b, model_id: claude-x, key_command: pass show sk-secret }
  - { provider: my-lab, model_id: m, pricing: { cache_read: 0, cache_write: 1, output: 2 } }
  - { provider: deepseek, model_id: deepseek-v4-pro, max_tokens: 4000, vision: true }
default_model: { provider: b, model_id: claude-x }
`;
  const env = { MY_LAB_API_KEY: "sk-secret", MY_LAB_BASE_URL: "http://lab/v1" };
  const text = await list(config, [], env);
  expect(text.out).toBe(
    [
      "  a/m key: stored",
      "    model name: client_type openai-chat",
      "    stored: base_url http://127.0.0.1:1/v1",
      "* b/claude-x key: key_command",
      "    model name: client_type anthropic-messages",
      "  my-lab/m key: MY_LAB_API_KEY",
      "    model name: client_type openai-chat",
      "    MY_LAB_BASE_URL: base_url http://lab/v1",
      "    stored: pricing 1,0,1,2",
      "  deepseek/deepseek-v4-pro key: none",
      "    catalogue: client_type openai-chat, base_url https://api.deepseek.com, context_window 1048576, thinking yes, " +
        "pricing 0.435,0.003625,0.435,0.87",
      "    stored: max_tokens 4000, vision yes",
      "",
    ].join("\n"),
  );
  const json = await list(config, ["--output", "json"], env);
  const rows = JSON.parse(json.out);
  expect(rows).toHaveLength(4);
  expect(rows[1]).toEqual({
    provider: "b",
    model_id: "claude-x",
    is_default: true,
    key: "key_command",
    client_type: "anthropic-messages",
    sources: { client_type: "model name" },
  });
  expect(rows[3]).toMatchObject({
    context_window: 1048576,
    pricing: { input: 0.435 },
    sources: { context_window: "catalogue", vision: "stored" },
  });
  expect(text.out + json.out).not.toContain("sk-secret");
});

test("a key in an address is not shown", async () => {
  const config = 'models: [{ provider: a, model_id: m, base_url: "http://h/v1?api-key=sk-secret&v=1" }]\n';
  expect((await list(config)).out).toContain("stored: base_url http://h/v1?api-key=[redacted]&v=1\n");
  expect((await list(config, ["--output", "json"])).out).not.toContain("sk-secret");
});

test("a value that could not be used is listed all the same", async () => {
  const { code, out } = await list('models: [{ provider: a, model_id: m, base_url: "x\\e[2J" }]\n');
  expect(code).toBe(0);
  expect(out).toContain("stored: base_url x␛[2J\n");
});

test("list --available begins with the date of the catalogue and shows each model on a line", async () => {
  const { code, out } = await list("", ["--available"]);
  expect(code).toBe(0);
  const lines = out.split("\n");
  expect(lines[0]).toMatch(
    /^models as of \d{4}-\d\d-\d\d, \d+ days ago; prices in USD per million tokens: input,cache_read,cache_write,output$/,
  );
  const providers = await catalogueProviders();
  for (const { id, models } of providers) {
    for (const { model_id } of models) expect(out).toContain(` ${id}/${model_id} `);
  }
  expect(out).toMatch(
    /^\* anthropic\/claude-sonnet-5 {2,}1M window {2,}128k out {2}vision {2}thinking {2}2,0\.2,2\.5,10$/m,
  );
});

test("list --available PROVIDER shows that one, also one of which no model is known", async () => {
  const { out } = await list("", ["--available", "groq"]);
  expect(out.split("\n").slice(1)).toEqual([
    "",
    "Groq: https://api.groq.com/openai/v1, GROQ_API_KEY",
    "* groq/openai/gpt-oss-120b   131k window    66k out          thinking  0.15,0.075,0.15,0.6",
    "",
  ]);
  expect((await list("", ["--available", "mistral"])).out).toContain(
    "Mistral AI: https://api.mistral.ai/v1, MISTRAL_API_KEY\n* mistral/mistral-large-latest  (no more is known of it)\n",
  );
});

test("list --available as json is the catalogue", async () => {
  const { out } = await list("", ["--available", "xai", "--output", "json"]);
  const [provider] = (await catalogueProviders()).filter(({ id }) => id === "xai");
  expect(JSON.parse(out)).toEqual({ date: expect.any(String), days: expect.any(Number), providers: [provider] });
});

test.each([
  ["opnai", "did you mean openai?"],
  ["google", "did you mean gemini?"],
  ["nonesuch-provider", expect.stringMatching(/^use one of anthropic, .*zai$/)],
])("an unknown provider %s is a usage error that leads on", async (provider, hint) => {
  const { code, out } = await list("", ["--available", provider, "--output", "json"]);
  expect(code).toBe(2);
  expect(JSON.parse(out).error).toEqual({
    code: "usage",
    message: `the catalogue has no provider "${provider}"`,
    hint,
  });
});

/** What `config model list` answers for a project with this configuration. */
async function list(
  config: string,
  flags: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number; out: string; err: string }> {
  const root = await mkdtemp(join(tmpdir(), "rookery-list-"));
  await mkdir(join(root, "default_project"));
  await writeFile(join(root, "default_project", "project_config.yaml"), config);
  const io = fakeIo({ env });
  const code = await rookery(["config", "model", "list", "--root", root, ...flags], io);
  return { code, out: io.out(), err: io.err() };
}
