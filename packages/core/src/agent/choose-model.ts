import { RookeryError } from "../errors/rookery-error.ts";
import { type CatalogueProvider, catalogueProviders } from "../llm/catalogue/catalogue.ts";
import { setKeyVariable } from "./model-key.ts";
import { type ModelWish, modelPair, parseModelName } from "./model-name.ts";
import type { ModelName, ProjectConfig } from "./project-config.ts";

/**
 * Which model: the wish, else `ROOKERY_MODEL`, else the project's default, else the catalogue's default of the one
 * provider whose key is set.
 *
 * @throws {RookeryError} `usage` for half a pair, `model-missing` when nothing names a model.
 */
export async function chooseModel(wish: ModelWish, config: ProjectConfig, env: NodeJS.ProcessEnv): Promise<ModelName> {
  const pair = modelPair(wish);
  if (pair) return { provider: pair.provider, model_id: pair.modelId };
  if (env.ROOKERY_MODEL) return parseModelName(env.ROOKERY_MODEL, "ROOKERY_MODEL");
  if (config.default_model) return config.default_model;
  const usable = (await catalogueProviders()).filter((provider) => setKeyVariable(provider, env));
  const [only, another] = usable;
  if (!only) throw nothingChosen(config);
  if (another) throw severalKeys(usable, env);
  return { provider: only.id, model_id: only.default_model_id };
}

function nothingChosen({ models = [] }: ProjectConfig): RookeryError {
  const [stored] = models;
  const hint = stored
    ? `take a stored one, as in: rookery config model default ${stored.provider}/${stored.model_id}; rookery config model ` +
      "list shows them"
    : "set a provider's key, as in: export ANTHROPIC_API_KEY=KEY; or store a model and its key: rookery config model add " +
      "openai/gpt-5.4 --set-default; or use a server of your own, Ollama or any that speaks OpenAI's protocol: " +
      'rookery run --model local/qwen3 --base-url http://127.0.0.1:11434/v1 "PROMPT"';
  return new RookeryError("model-missing", "no model is chosen", { hint });
}

function severalKeys(providers: readonly CatalogueProvider[], env: NodeJS.ProcessEnv): RookeryError {
  const variables = providers.map((provider) => setKeyVariable(provider, env)).join(", ");
  const [first = "", ...others] = providers.map(({ id, default_model_id }) => `${id}/${default_model_id}`);
  return new RookeryError("model-missing", `no model is chosen, and several keys are set: ${variables}`, {
    hint:
      `pass --model ${first} (or ${others.join(", ")}), or choose for good: rookery config model add ${first} ` +
      "--set-default",
  });
}
