import { RookeryError } from "../errors/rookery-error.ts";
import { providerMeant } from "../llm/catalogue/provider-meant.ts";
import type { ThinkingLevelName } from "../llm/contract.ts";
import type { ModelPricing } from "../llm/cost.ts";
import { assertClientType } from "../llm/providers/registry.ts";
import { assertBaseUrl } from "./base-url.ts";
import { chooseModel } from "./choose-model.ts";
import { keyResolver } from "./model-key.ts";
import { type ModelWish, providerVariable } from "./model-name.ts";
import { type ModelSettings, modelSettings, storedModel } from "./model-settings.ts";
import type { ModelName, ProjectConfig } from "./project-config.ts";

/** Everything that is needed to reach one model. */
export interface ModelChoice {
  readonly provider: string;
  readonly modelId: string;
  readonly clientType: string;
  readonly baseUrl: string;
  /** Asked before each request; absent key: none is needed. @throws {RookeryError} `model-auth`. */
  resolveApiKey(): Promise<string | undefined>;
  /** In tokens. */
  readonly contextWindow?: number;
  /** Of one reply, in tokens. */
  readonly maxTokens?: number;
  readonly thinkingLevel?: ThinkingLevelName;
  readonly headers?: Readonly<Record<string, string>>;
  readonly vision?: boolean;
  /** Whether it can think at all. */
  readonly thinking?: boolean;
  readonly pricing?: ModelPricing;
}

/**
 * Settles which model a session talks to, and how.
 *
 * @throws {RookeryError} `usage` for half a pair, `model-missing` when nothing names a model, `model-auth` when its key is
 *   not to be found, `config-invalid` for an address, a protocol or a price that is not usable.
 */
export async function resolveModel(
  wish: ModelWish,
  config: ProjectConfig,
  env: NodeJS.ProcessEnv,
): Promise<ModelChoice> {
  const name = await chooseModel(wish, config, env);
  const entry = storedModel(config, name);
  const settings = await modelSettings(name, config, env, wish);
  const clientType = settings.client_type.value;
  assertClientType(clientType);
  const baseUrl = await usableBaseUrl(name, settings);
  const maxTokens = outputLimit(settings);
  const { context_window, thinking_level, vision, thinking } = settings;
  const pricing = usablePricing(name, settings);
  return {
    provider: name.provider,
    modelId: name.model_id,
    clientType,
    baseUrl,
    resolveApiKey: await keyResolver(name, entry, baseUrl, env),
    ...(context_window && { contextWindow: context_window.value }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(thinking_level && { thinkingLevel: thinking_level.value }),
    ...(entry?.headers && { headers: entry.headers }),
    ...(vision && { vision: vision.value }),
    ...(thinking && { thinking: thinking.value }),
    ...(pricing && { pricing }),
  };
}

/** Protocols in which a request has to say how long its reply may be. */
const LIMITED_CLIENT_TYPES: ReadonlySet<string> = new Set(["anthropic-messages"]);

/** The stored limit; the model's own only where the protocol asks for one. */
function outputLimit({ client_type, max_tokens }: ModelSettings): number | undefined {
  const isSent = max_tokens?.source !== "catalogue" || LIMITED_CLIENT_TYPES.has(client_type.value);
  return isSent ? max_tokens?.value : undefined;
}

async function usableBaseUrl(name: ModelName, { base_url }: ModelSettings): Promise<string> {
  if (!base_url) throw await noAddress(name);
  const { value, source } = base_url;
  const place = { flag: "the base URL", stored: `base_url of ${name.provider}/${name.model_id}` }[source] ?? source;
  assertBaseUrl(value, place);
  return value;
}

async function noAddress({ provider, model_id }: ModelName): Promise<RookeryError> {
  const meant = await providerMeant(provider);
  const store = `rookery config model add ${provider}/${model_id} --base-url URL`;
  const ways = `pass --base-url, set ${providerVariable(provider, "BASE_URL")}, or store it with ${store}`;
  return new RookeryError("config-invalid", `no address is known for the provider ${JSON.stringify(provider)}`, {
    hint: meant === undefined ? ways : `did you mean ${meant}? otherwise ${ways}`,
  });
}

function usablePricing({ provider, model_id }: ModelName, { pricing }: ModelSettings): ModelPricing | undefined {
  for (const [key, price] of Object.entries(pricing?.value ?? {})) {
    if (price >= 0 && Number.isFinite(price)) continue;
    throw new RookeryError(
      "config-invalid",
      `pricing.${key} of ${provider}/${model_id} must be 0 or more, got ${price}`,
      {
        hint: "give USD per million tokens",
      },
    );
  }
  return pricing?.value;
}
