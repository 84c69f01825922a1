import type { CreateLLM, GenerativeModelConfig } from "../llm/contract.ts";
import type { ModelPricing } from "../llm/cost.ts";
import { GenerativeModel } from "../llm/generative-model.ts";
import { proxySecrets } from "../llm/network/proxy-for.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import type { SessionKey } from "../session/key-guard.ts";
import type { AgentOptions, SessionOptions } from "./agent-options.ts";
import { keyResolver } from "./model-key.ts";
import { modelPair } from "./model-name.ts";
import { storedModel } from "./model-settings.ts";
import { type ProjectConfig, readProjectConfig } from "./project-config.ts";
import { type ModelChoice, resolveModel } from "./resolve-model.ts";

/** What a model context gives its model beside what all of a session have in common. */
type ContextConfig = Pick<GenerativeModelConfig, "systemPrompt" | "tools" | "toolCallIds" | "sessionUsage">;

/** The model of one session: what its trace says of it, and how to make it. */
export interface SessionModel {
  readonly provider: string;
  readonly modelId: string;
  readonly contextWindow: number | "unknown";
  readonly vision: boolean | "unknown";
  /** Absent where it is not known, and for a model of the caller's own. */
  readonly pricing?: ModelPricing;
  create(config: ContextConfig, history: readonly OmniMessage[]): ReturnType<CreateLLM>;
  /** Absent for a model of the caller's own. */
  readonly key?: SessionKey;
}

/** Settles the model of a session; with `createLLM` no address and no key is looked for. */
export async function sessionModel(
  options: SessionOptions,
  createLLM: CreateLLM | undefined,
  projectConfigFile: string,
  env: NonNullable<AgentOptions["env"]>,
  fetchFor: (baseUrl: string) => typeof fetch,
): Promise<SessionModel> {
  const config = await readProjectConfig(projectConfigFile);
  if (createLLM) return customModel(options, createLLM, config);
  const choice = await resolveModel(options, config, env);
  const send = fetchFor(choice.baseUrl);
  // Read anew for every request: a key that was refused may have been replaced meanwhile.
  const current = async (): Promise<string | undefined> =>
    (await currentKey(choice, await readProjectConfig(projectConfigFile), env))();
  let used: string | undefined;
  const resolveApiKey = async (): Promise<string | undefined> => {
    used = await current();
    return used;
  };
  return {
    provider: choice.provider,
    modelId: choice.modelId,
    contextWindow: choice.contextWindow ?? "unknown",
    vision: options.vision ?? choice.vision ?? false,
    ...(choice.pricing && { pricing: choice.pricing }),
    create(given, history) {
      const model = new GenerativeModel({
        ...given,
        ...modelConfig(choice, options),
        resolveApiKey,
        fetch: send,
        secrets: proxySecrets(env),
      });
      model.setHistory(history);
      return model;
    },
    key: { used: () => used, current },
  };
}

/** The key of the same model, whatever the default has become. */
function currentKey(
  { provider, modelId, baseUrl }: ModelChoice,
  config: ProjectConfig,
  env: NodeJS.ProcessEnv,
): ReturnType<typeof keyResolver> {
  const name = { provider, model_id: modelId };
  return keyResolver(name, storedModel(config, name), baseUrl, env);
}

function customModel(options: SessionOptions, createLLM: CreateLLM, config: ProjectConfig): SessionModel {
  const { clientType, baseUrl } = options;
  const pair = modelPair(options);
  const { provider = "custom", modelId = "custom" } = pair ?? {};
  const entry = storedModel(config, { provider, model_id: modelId });
  return {
    provider,
    modelId,
    contextWindow: entry?.context_window ?? "unknown",
    vision: options.vision ?? entry?.vision ?? false,
    create: (given, history) =>
      createLLM(
        { ...given, ...tuning(options), modelId, ...(clientType && { clientType }), ...(baseUrl && { baseUrl }) },
        history,
      ),
  };
}

/** What the built-in model is made of, but for its key. */
export function modelConfig(choice: ModelChoice, options: SessionOptions): Omit<GenerativeModelConfig, "tools"> {
  const thinkingLevel = options.thinkingLevel ?? choice.thinkingLevel;
  return {
    ...tuning(options),
    modelId: choice.modelId,
    clientType: choice.clientType,
    baseUrl: choice.baseUrl,
    ...(choice.contextWindow !== undefined && { contextWindow: choice.contextWindow }),
    ...(choice.maxTokens !== undefined && { maxTokens: choice.maxTokens }),
    ...(choice.headers && { headers: choice.headers }),
    ...(thinkingLevel && { thinkingLevel }),
    ...(choice.pricing && { pricing: choice.pricing }),
  };
}

function tuning({ thinkingLevel, requestTimeoutMs }: SessionOptions): Partial<GenerativeModelConfig> {
  return {
    ...(thinkingLevel && { thinkingLevel }),
    ...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
  };
}
