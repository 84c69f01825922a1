import { mkdtemp, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readProjectConfig } from "@rookery/core";
import { expect, test } from "vitest";
import { type FakeIo, fakeIo, written } from "../../test/support/fake-io.ts";
import { rookery } from "../rookery.ts";

test("add stores a model with everything its flags say, for the owner's eyes alone", async () => {
  const project = await newProject();
  const io = fakeIo({ stdin: "sk-secret\n" });
  const flags =
    "--client-type openai-chat --base-url http://127.0.0.1:1/v1 --context-window 1000 --max-tokens 100 --no-vision " +
    "--price 3,0.3,3.75,15 --set-default --key-stdin";
  const headers = ["--header", "X-A: 1", "--header", "X-B: two words"];
  expect(await project.run(["add", "hub/org/m", ...flags.split(" "), ...headers], io)).toBe(0);
  expect(io.out()).toBe("stored hub/org/m\n");
  expect(await readProjectConfig(project.file)).toEqual({
    models: [
      {
        provider: "hub",
        model_id: "org/m",
        client_type: "openai-chat",
        base_url: "http://127.0.0.1:1/v1",
        context_window: 1000,
        max_tokens: 100,
        vision: false,
        pricing: { input: 3, cache_read: 0.3, cache_write: 3.75, output: 15 },
        headers: { "X-A": "1", "X-B": "two words" },
        api_key: "sk-secret",
      },
    ],
    default_model: { provider: "hub", model_id: "org/m" },
  });
  expect((await stat(project.file)).mode & 0o777).toBe(0o600);
});

test("a key typed at a terminal is not echoed, and can be corrected while it is typed", async () => {
  const project = await newProject();
  const io = fakeIo({ isTTY: true });
  const raw: boolean[] = [];
  io.stdin.setRawMode = (on) => void raw.push(on);
  const running = project.run(["add", "hub/m"], io);
  await written(io.err, "Key for hub");
  io.stdin.write("sk-x\x7fsecret\r");
  expect(await running).toBe(0);
  expect((await readProjectConfig(project.file)).models?.[0]?.api_key).toBe("sk-secret");
  expect(io.err()).toBe("Key for hub (Enter for none): \n");
  expect(io.out()).not.toContain("secret");
  expect(raw).toEqual([true, false]);
});

test("Ctrl-C at the key stores nothing and leaves the terminal as it was", async () => {
  const project = await newProject();
  const io = fakeIo({ isTTY: true });
  const raw: boolean[] = [];
  io.stdin.setRawMode = (on) => void raw.push(on);
  const running = project.run(["add", "hub/m"], io);
  await written(io.err, "Key for hub");
  io.stdin.write("sk\x03");
  expect(await running).toBe(130);
  expect(await readProjectConfig(project.file)).toEqual({});
  expect(raw).toEqual([true, false]);
});

test("without a terminal and without --key-stdin no key is stored and nothing is waited for", async () => {
  const project = await newProject();
  const io = fakeIo();
  expect(await project.run(["add", "hub/m"], io)).toBe(0);
  expect(io.out()).toBe(
    "stored hub/m (no key; set HUB_API_KEY or use --key-stdin); no address is known for it: pass --base-url\n",
  );
  expect(await readProjectConfig(project.file)).toEqual({ models: [{ provider: "hub", model_id: "m" }] });
});

test("a model whose key is known already is stored without a word on keys", async () => {
  const project = await newProject("models: [{ provider: a, model_id: m, api_key: sk-secret }]\n");
  const stored = fakeIo();
  expect(await project.run(["add", "a/m", "--vision", "--base-url", "http://localhost:1/v1"], stored)).toBe(0);
  expect(stored.out()).toBe("stored a/m\n");
  const fromEnvironment = fakeIo({ env: { HUB_API_KEY: "sk-secret" } });
  expect(await project.run(["add", "hub/m"], fromEnvironment)).toBe(0);
  expect(fromEnvironment.out()).toBe("stored hub/m; no address is known for it: pass --base-url\n");
});

test("a provider that is misspelt is stored, and told what it may have been meant to be", async () => {
  const io = fakeIo();
  expect(await (await newProject()).run(["add", "opnai/gpt-5.4"], io)).toBe(0);
  expect(io.out()).toContain("no address is known for it: did you mean openai? otherwise pass --base-url");
});

test("a price replaces the stored one whole, and other changes leave it", async () => {
  const stored = "pricing: { input: 1, cache_read: 1, cache_write: 1, output: 1 }";
  const project = await newProject(`models: [{ provider: a, model_id: m, ${stored} }]\n`);
  await project.run(["add", "a/m", "--vision"], fakeIo());
  expect((await readProjectConfig(project.file)).models?.[0]?.pricing?.output).toBe(1);
  await project.run(["add", "a/m", "--price", "2,4"], fakeIo());
  expect((await readProjectConfig(project.file)).models?.[0]?.pricing).toEqual({
    input: 2,
    cache_read: 2,
    cache_write: 2,
    output: 4,
  });
});

test("where a provider's key is missing the variable is the one its vendor reads", async () => {
  const project = await newProject();
  const io = fakeIo();
  await project.run(["add", "qwen/qwen-plus"], io);
  expect(io.out()).toBe("stored qwen/qwen-plus (no key; set DASHSCOPE_API_KEY or use --key-stdin)\n");
  const known = fakeIo({ env: { DASHSCOPE_API_KEY: "k" } });
  await project.run(["add", "qwen/qwen-plus"], known);
  expect(known.out()).toBe("stored qwen/qwen-plus\n");
});

test("Enter at the key keeps the stored one, and the question says so", async () => {
  const project = await newProject("models: [{ provider: a, model_id: m, api_key: sk-secret }]\n");
  const io = fakeIo({ isTTY: true });
  const running = project.run(["add", "a/m"], io);
  await written(io.err, "Key for a (Enter keeps the stored one): ");
  io.stdin.write("\r");
  expect(await running).toBe(0);
  expect((await readProjectConfig(project.file)).models?.[0]?.api_key).toBe("sk-secret");
});

test.each([
  ["\n", "standard input holds no key"],
  ["one two\n", "standard input holds more than a key"],
])("--key-stdin with %j is a usage error that does not repeat it", async (stdin, message) => {
  const project = await newProject();
  const io = fakeIo({ stdin });
  expect(await project.run(["add", "hub/m", "--key-stdin"], io)).toBe(2);
  expect(io.err()).toMatch(new RegExp(`^rookery: ${message}; pass the key alone`));
  expect(io.err()).not.toContain("two");
});

test("vision chooses a stored model, which the list marks and remove takes out", async () => {
  const project = await newProject("models: [{ provider: a, model_id: m }, { provider: b, model_id: n }]\n");
  const [io, listed] = [fakeIo(), fakeIo()];
  expect(await project.run(["vision", "b/n"], io)).toBe(0);
  expect(io.out()).toBe("vision b/n\n");
  expect((await readProjectConfig(project.file)).vision_model).toEqual({ provider: "b", model_id: "n" });
  await project.run(["list"], listed);
  expect(listed.out()).toMatch(/^ {2}b\/n key: none \(looks at images for others\)$/m);
  const unknown = fakeIo();
  expect(await project.run(["vision", "b/m"], unknown)).toBe(2);
  expect(unknown.err()).toMatch(/^rookery: the project has no model b\/m; did you mean/);
  expect(await project.run(["remove", "b/n"], fakeIo())).toBe(0);
  expect(await readProjectConfig(project.file)).not.toHaveProperty("vision_model");
});

test("default and remove work on stored models", async () => {
  const project = await newProject("models: [{ provider: a, model_id: m }]\n");
  expect(await project.run(["default", "a/m"], fakeIo())).toBe(0);
  expect((await readProjectConfig(project.file)).default_model).toEqual({ provider: "a", model_id: "m" });
  const json = fakeIo();
  expect(await project.run(["remove", "a/m", "--output", "json"], json)).toBe(0);
  expect(JSON.parse(json.out())).toEqual({ removed: "a/m" });
  const io = fakeIo();
  expect(await project.run(["remove", "a/m"], io)).toBe(2);
  expect(io.err()).toBe("rookery: the project has no model a/m; rookery config model list shows what is stored\n");
});

test.each([
  [["add", "gpt-5"], 'the model must be PROVIDER/MODEL_ID, got "gpt-5"; write it like openai/gpt-5 or local/qwen3'],
  [
    ["add", "a/b\n\u001b[31m"],
    String.raw`the model's name "a/b\n\u001b[31m" has blanks or control characters; write it as the provider does, without them`,
  ],
  [["add", "a/m", "--header", "secret"], "--header \"secret\" is not a header; write it like --header 'X-Team: blue'"],
  [["add", "a/m", "--header", "X: a\nb"], "--header \"X\" is not a header; write it like --header 'X-Team: blue'"],
  [
    ["add", "a/m", "--base-url", "x"],
    'base_url must be an http or https address, got "x"; write it like http://127.0.0.1:8080/v1',
  ],
  [
    ["add", "a/m", "--context-window", "big"],
    '--context-window must be a whole number of tokens above 0, got "big"; give a number above 0 and up to 1000000000',
  ],
  [
    ["add", "a/m", "--price", "cheap"],
    '--price must be two or four amounts in USD, got "cheap"; write INPUT,OUTPUT or INPUT,CACHE_READ,CACHE_WRITE,OUTPUT ' +
      "per million tokens, like 3,0.3,3.75,15",
  ],
  [["add", "a/m", "--vision", "--no-vision"], "--vision came together with --no-vision; use one"],
  [["add", "a/m", "--key", "sk"], "unknown option '--key'; see --help"],
  [
    ["add", "a/m", "--project", "../x"],
    'the project id "../x" is not usable as a directory name; use letters, digits, _ and - only',
  ],
])("%j is refused and nothing is written", async (argv, message) => {
  const project = await newProject();
  const io = fakeIo();
  expect(await project.run(argv, io)).toBe(2);
  expect(io.err()).toBe(`rookery: ${message}\n`);
  expect(await readProjectConfig(project.file)).toEqual({});
});

test("a broken file is named with its line and left as it is", async () => {
  const project = await newProject("models: [\n");
  const io = fakeIo();
  expect(await project.run(["add", "a/m"], io)).toBe(2);
  expect(io.err()).toMatch(
    /^rookery: .*project_config\.yaml:\d: not valid YAML: .*; correct the file; it was left as it is\n$/,
  );
  expect(await readFile(project.file, "utf8")).toBe("models: [\n");
});

test("ROOKERY_HOME is the root when --root is not given", async () => {
  const home = await mkdtemp(join(tmpdir(), "rookery-home-"));
  expect(await rookery(["config", "model", "add", "a/m"], fakeIo({ env: { ROOKERY_HOME: home } }))).toBe(0);
  expect(await readProjectConfig(join(home, "default_project", "project_config.yaml"))).toMatchObject({ models: [{}] });
});

interface Project {
  readonly file: string;
  run(argv: readonly string[], io: FakeIo): Promise<number>;
}

/** A root whose default project has this configuration. */
async function newProject(text?: string): Promise<Project> {
  const root = await mkdtemp(join(tmpdir(), "rookery-root-"));
  const file = join(root, "default_project", "project_config.yaml");
  if (text !== undefined) {
    expect(await rookery(["config", "model", "add", "x/y", "--root", root], fakeIo())).toBe(0);
    await writeFile(file, text);
  }
  return { file, run: (argv, io) => rookery(["config", "model", ...argv, "--root", root], io) };
}
