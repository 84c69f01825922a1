import { catalogueModel, catalogueProvider } from "../llm/catalogue/catalogue.ts";
import type { ThinkingLevelName } from "../llm/contract.ts";
import type { ModelPricing } from "../llm/cost.ts";
import { inferClientType } from "../llm/providers/registry.ts";
import { type ModelWish, providerVariable } from "./model-name.ts";
import type { ModelEntry, ModelName, ProjectConfig } from "./project-config.ts";

/** A value and where it comes from: `flag`, `stored`, the name of a variable, `catalogue`, or `model name`. */
export interface ModelSetting<T> {
  readonly value: T;
  readonly source: string;
}

/** What is settled of a model, under the keys of the project's configuration; absent: not known. */
export interface ModelSettings {
  readonly client_type: ModelSetting<string>;
  readonly base_url: ModelSetting<string> | undefined;
  /** In tokens. */
  readonly context_window: ModelSetting<number> | undefined;
  /** Of one reply, in tokens. */
  readonly max_tokens: ModelSetting<number> | undefined;
  readonly vision: ModelSetting<boolean> | undefined;
  /** Whether it can think at all. */
  readonly thinking: ModelSetting<boolean> | undefined;
  readonly thinking_level: ModelSetting<ThinkingLevelName> | undefined;
  readonly pricing: ModelSetting<ModelPricing> | undefined;
}

/** Everything that is known of a model, each from the first place that says it: the wish, the entry, the catalogue. */
export async function modelSettings(
  name: ModelName,
  config: ProjectConfig,
  env: NodeJS.ProcessEnv,
  wish: ModelWish = {},
): Promise<ModelSettings> {
  const entry = storedModel(config, name);
  const model = await catalogueModel(name.provider, name.model_id);
  const provider = await catalogueProvider(name.provider);
  const variable = providerVariable(name.provider, "BASE_URL");
  return {
    client_type: settled<string>(wish.clientType, entry?.client_type, provider?.client_type) ?? {
      value: inferClientType(name.model_id),
      source: "model name",
    },
    base_url:
      settled(wish.baseUrl, entry?.base_url, undefined) ??
      setting(variable, env[variable] || undefined) ??
      setting(CATALOGUE, provider?.base_url),
    context_window: settled(undefined, entry?.context_window, model?.context_window),
    max_tokens: settled(undefined, entry?.max_tokens, model?.max_tokens),
    vision: settled(undefined, entry?.vision, model?.vision),
    thinking: setting(CATALOGUE, model?.thinking),
    thinking_level: setting(STORED, entry?.thinking_level),
    pricing: settled<ModelPricing>(undefined, entry?.pricing, model?.pricing),
  };
}

/** The project's entry for a model. */
export function storedModel({ models = [] }: ProjectConfig, name: ModelName): ModelEntry | undefined {
  return models.find((model) => model.provider === name.provider && model.model_id === name.model_id);
}

const STORED = "stored";
const CATALOGUE = "catalogue";

function settled<T>(wished: T | undefined, stored: T | undefined, known: T | undefined): ModelSetting<T> | undefined {
  return setting("flag", wished) ?? setting(STORED, stored) ?? setting(CATALOGUE, known);
}

function setting<T>(source: string, value: T | undefined): ModelSetting<T> | undefined {
  return value === undefined ? undefined : { value, source };
}
