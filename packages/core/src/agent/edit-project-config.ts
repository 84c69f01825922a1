import { nearestWord } from "../errors/nearest-word.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import { assertClientType } from "../llm/providers/registry.ts";
import { assertBaseUrl } from "./base-url.ts";
import { assertModelName } from "./model-name.ts";
import { writePrivateFile } from "./private-file.ts";
import { type ModelEntry, type ModelName, type ProjectConfig, readProjectYaml } from "./project-config.ts";
import type { YamlFile } from "./yaml-file.ts";

/**
 * Stores a model, or changes a stored one: fields that `entry` does not name keep their values.
 *
 * The file keeps its comments and its order, gets mode 0600, and is replaced whole; a file that cannot be read as
 * configuration is left alone.
 *
 * @param options.setDefault - Also makes it the project's default model.
 * @throws {RookeryError} `usage` for a name with blanks or control characters, `config-invalid` for an entry or a file that
 *   is not usable, `root-unwritable`.
 */
export async function addModel(file: string, entry: ModelEntry, options: { setDefault?: boolean } = {}): Promise<void> {
  assertModelName(entry);
  if (entry.client_type !== undefined) assertClientType(entry.client_type);
  if (entry.base_url !== undefined) assertBaseUrl(entry.base_url, "base_url");
  await editProjectConfig(file, ({ models = [] }, { document }) => {
    const index = indexOf(models, entry);
    if (index >= 0) {
      for (const [key, value] of Object.entries(entry)) document.setIn(["models", index, key], value);
    } else if (models.length > 0) document.addIn(["models"], document.createNode(entry));
    else document.setIn(["models"], document.createNode([entry]));
    if (options.setDefault) setDefault(document, entry);
  });
}

/** Makes a stored model the default. @throws {RookeryError} `model-unknown` when it is not stored. */
export async function setDefaultModel(file: string, name: ModelName): Promise<void> {
  await editProjectConfig(file, ({ models = [] }, { document }) => {
    requireIndex(models, name);
    setDefault(document, name);
  });
}

/** Makes a stored model the one that looks at images for others. @throws {RookeryError} `model-unknown` when it is not stored. */
export async function setVisionModel(file: string, name: ModelName): Promise<void> {
  await editProjectConfig(file, ({ models = [] }, { document }) => {
    requireIndex(models, name);
    document.set("vision_model", document.createNode(pairOf(name)));
  });
}

/** Takes a model out, and the default and vision model with it where it was that one. @throws {RookeryError} `model-unknown`. */
export async function removeModel(file: string, name: ModelName): Promise<void> {
  await editProjectConfig(file, ({ models = [], default_model, vision_model }, { document }) => {
    document.deleteIn(["models", requireIndex(models, name)]);
    if (default_model && isSame(default_model, name)) document.delete("default_model");
    if (vision_model && isSame(vision_model, name)) document.delete("vision_model");
  });
}

/** Changes a project's configuration in place: the file keeps comments and order, and is replaced whole. */
export async function editProjectConfig(
  file: string,
  change: (config: ProjectConfig, yaml: YamlFile) => void,
): Promise<void> {
  const { config, yaml } = await readProjectYaml(file);
  change(config, yaml);
  await writePrivateFile(file, yaml.document.toString({ lineWidth: 0 }));
}

function setDefault(document: YamlFile["document"], name: ModelName): void {
  document.set("default_model", document.createNode(pairOf(name)));
}

function pairOf({ provider, model_id }: ModelName): ModelName {
  return { provider, model_id };
}

function requireIndex(models: readonly ModelEntry[], name: ModelName): number {
  const index = indexOf(models, name);
  if (index >= 0) return index;
  const nearest = nearestWord(spelled(name), models.map(spelled));
  throw new RookeryError("model-unknown", `the project has no model ${spelled(name)}`, {
    hint: nearest ? `did you mean ${nearest}?` : "rookery config model list shows what is stored",
  });
}

function indexOf(models: readonly ModelName[], name: ModelName): number {
  return models.findIndex((model) => isSame(model, name));
}

function isSame(a: ModelName, b: ModelName): boolean {
  return a.provider === b.provider && a.model_id === b.model_id;
}

function spelled({ provider, model_id }: ModelName): string {
  return `${provider}/${model_id}`;
}
