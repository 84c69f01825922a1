import type { CreateLLM, GenerativeModelConfig } from "../llm/contract.ts";
import { GenerativeModel } from "../llm/generative-model.ts";
import type { ToolDefinition } from "../omnimessage/message.ts";
import type { AgentOptions, SessionOptions } from "./agent-options.ts";
import { readProjectConfig } from "./project-config.ts";
import { type ModelChoice, resolveModel } from "./resolve-model.ts";

/** The model of one session: what its trace says of it, and how to make it. */
export interface SessionModel {
  readonly provider: string;
  readonly modelId: string;
  readonly contextWindow: number | "unknown";
  readonly vision: boolean;
  readonly create: (
    config: Pick<GenerativeModelConfig, "systemPrompt"> & { tools: readonly ToolDefinition[] },
  ) => ReturnType<CreateLLM>;
  /** The key the next request would use; absent for a model of the caller's own. */
  readonly currentKey?: () => Promise<string | undefined>;
}

/** Settles the model of a session; with `createLLM` nothing is looked up and no key is needed. */
export async function sessionModel(
  options: SessionOptions,
  createLLM: CreateLLM | undefined,
  projectConfigFile: string,
  env: NonNullable<AgentOptions["env"]>,
): Promise<SessionModel> {
  if (createLLM) return customModel(options, createLLM);
  const choice = resolveModel(options, await readProjectConfig(projectConfigFile), env);
  return {
    provider: choice.provider,
    modelId: choice.modelId,
    contextWindow: choice.contextWindow ?? "unknown",
    vision: choice.vision ?? false,
    create: (config) => new GenerativeModel({ ...config, ...modelConfig(choice, options) }),
    currentKey: choice.resolveApiKey,
  };
}

function customModel(options: SessionOptions, createLLM: CreateLLM): SessionModel {
  const { provider = "custom", modelId = "custom", clientType, baseUrl } = options;
  return {
    provider,
    modelId,
    contextWindow: "unknown",
    vision: false,
    create: (config) =>
      createLLM(
        { ...config, ...tuning(options), modelId, ...(clientType && { clientType }), ...(baseUrl && { baseUrl }) },
        [],
      ),
  };
}

function modelConfig(choice: ModelChoice, options: SessionOptions): Omit<GenerativeModelConfig, "tools"> {
  const thinkingLevel = options.thinkingLevel ?? choice.thinkingLevel;
  return {
    ...tuning(options),
    modelId: choice.modelId,
    clientType: choice.clientType,
    baseUrl: choice.baseUrl,
    resolveApiKey: choice.resolveApiKey,
    ...(choice.contextWindow !== undefined && { contextWindow: choice.contextWindow }),
    ...(choice.maxTokens !== undefined && { maxTokens: choice.maxTokens }),
    ...(choice.headers && { headers: choice.headers }),
    ...(thinkingLevel && { thinkingLevel }),
  };
}

function tuning({ thinkingLevel, requestTimeoutMs }: SessionOptions): Partial<GenerativeModelConfig> {
  return {
    ...(thinkingLevel && { thinkingLevel }),
    ...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
  };
}
