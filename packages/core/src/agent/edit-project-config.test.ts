import { mkdtemp, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { addModel, removeModel, setDefaultModel } from "./edit-project-config.ts";
import { readProjectConfig } from "./project-config.ts";

const local = { provider: "custom", model_id: "local" };

test("the first model makes the file and its directories, for the owner's eyes alone", async () => {
  const file = join(await temporary(), "root", "project", "project_config.yaml");
  await addModel(file, { ...local, api_key: "k" }, { setDefault: true });
  expect(await readProjectConfig(file)).toEqual({ models: [{ ...local, api_key: "k" }], default_model: local });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(dirname(file))).mode & 0o777).toBe(0o700);
  expect(await readdir(dirname(file))).toEqual(["project_config.yaml"]);
});

test("an edit keeps comments, order and what it does not name", async () => {
  const file = await configFile(
    "# mine\nmodels: # all of them\n  - model_id: local\n    provider: custom # here\n    api_key: k\nvision_model: { provider: a, model_id: b }\n",
  );
  await addModel(file, { ...local, base_url: "http://127.0.0.1:1/v1", headers: { A: "b" } });
  expect(await readFile(file, "utf8")).toBe(
    "# mine\nmodels:\n  # all of them\n  - model_id: local\n    provider: custom # here\n    api_key: k\n    base_url: http://127.0.0.1:1/v1\n    headers:\n      A: b\nvision_model: { provider: a, model_id: b }\n",
  );
});

test("a second model is added behind the first, also to a list that was written in one line", async () => {
  const file = await configFile("models: [{ provider: a, model_id: b }]\n");
  await addModel(file, local);
  await addModel(file, { provider: "a", model_id: "b", context_window: 5, headers: { A: "b" } });
  expect((await readProjectConfig(file)).models).toEqual([
    { provider: "a", model_id: "b", context_window: 5, headers: { A: "b" } },
    local,
  ]);
});

test("a file that others could read is closed by the next edit", async () => {
  const file = await configFile("models: []\n", 0o644);
  await addModel(file, local);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("a linked file is written through its link", async () => {
  const file = await configFile("");
  const link = join(await temporary(), "project_config.yaml");
  await symlink(file, link);
  await addModel(link, local);
  expect(await readProjectConfig(file)).toEqual({ models: [local] });
});

test("a broken file is never overwritten", async () => {
  const file = await configFile("models: [\n");
  await expect(addModel(file, local)).rejects.toMatchObject({ code: "config-invalid" });
  expect(await readFile(file, "utf8")).toBe("models: [\n");
});

test("an entry with an unusable name, protocol or address is refused before anything is written", async () => {
  const file = join(await temporary(), "project_config.yaml");
  await expect(addModel(file, { ...local, client_type: "smoke" })).rejects.toMatchObject({ code: "config-invalid" });
  await expect(addModel(file, { ...local, model_id: "m\u001b[31m" })).rejects.toMatchObject({
    code: "usage",
    message: expect.stringContaining("has blanks or control characters"),
  });
  await expect(addModel(file, { ...local, base_url: "ftp://x" })).rejects.toThrow(
    'base_url must be an http or https address, got "ftp://x"',
  );
  expect(await readProjectConfig(file)).toEqual({});
});

test("the default is one of the stored models", async () => {
  const file = await configFile("");
  await addModel(file, local);
  await setDefaultModel(file, local);
  expect((await readProjectConfig(file)).default_model).toEqual(local);
  await expect(setDefaultModel(file, { provider: "custom", model_id: "locla" })).rejects.toMatchObject({
    code: "model-unknown",
    message: "the project has no model custom/locla",
    hint: "did you mean custom/local?",
  });
});

test("removing a model takes the default with it only where it was that one", async () => {
  const other = { provider: "openai", model_id: "gpt-5" };
  const file = await configFile("");
  await addModel(file, local, { setDefault: true });
  await addModel(file, other);
  await removeModel(file, other);
  expect(await readProjectConfig(file)).toEqual({ models: [local], default_model: local });
  await removeModel(file, local);
  expect(await readProjectConfig(file)).toEqual({ models: [] });
  await expect(removeModel(file, local)).rejects.toMatchObject({
    code: "model-unknown",
    hint: "rookery config model list shows what is stored",
  });
});

test("a root that is a file is named as not writable", async () => {
  const root = await configFile("");
  const file = join(root, "project", "project_config.yaml");
  await expect(addModel(file, local)).rejects.toMatchObject({
    code: expect.stringMatching(/^(config-invalid|root-unwritable)$/),
    message: expect.stringContaining(`${file}: ENOTDIR`),
  });
});

async function configFile(text: string, mode = 0o600): Promise<string> {
  const file = join(await temporary(), "project_config.yaml");
  await writeFile(file, text, { mode });
  return file;
}

function temporary(): Promise<string> {
  return mkdtemp(join(tmpdir(), "rookery-config-"));
}
