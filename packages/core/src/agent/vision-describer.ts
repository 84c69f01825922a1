import type { VisionDescriberService } from "../environment/contract.ts";
import { errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import type { LLMInterface, LLMOutcome } from "../llm/contract.ts";
import { GenerativeModel } from "../llm/generative-model.ts";
import { proxySecrets } from "../llm/network/proxy-for.ts";
import { type ModelName, type ProjectConfig, readProjectConfig } from "./project-config.ts";
import { resolveModel } from "./resolve-model.ts";
import { modelConfig } from "./session-model.ts";

/** What the vision model of a project is reached with. */
export interface VisionPlace {
  readonly projectConfigFile: string;
  readonly env: NodeJS.ProcessEnv;
  readonly fetchFor: (baseUrl: string) => typeof fetch;
}

/**
 * What looks at images for models that do not see: the project's `vision_model` as it is chosen now. Its address and its
 * key are looked for at each description, so that a session without images needs neither.
 */
export function visionDescriber({ vision_model: name }: ProjectConfig, place: VisionPlace): VisionDescriberService {
  if (name === undefined) return { modelId: null };
  return {
    modelId: `${name.provider}/${name.model_id}`,
    createLLM: (): LLMInterface => ({
      async *streamGenerate(parameters) {
        const model = await openModel(name, place).catch(outcomeOf);
        return model instanceof GenerativeModel ? yield* model.streamGenerate(parameters) : model;
      },
    }),
  };
}

async function openModel(
  { provider, model_id }: ModelName,
  { projectConfigFile, env, fetchFor }: VisionPlace,
): Promise<GenerativeModel> {
  const config = await readProjectConfig(projectConfigFile);
  const choice = await resolveModel({ provider, modelId: model_id }, config, env);
  if (choice.vision === false) {
    throw new RookeryError("config-invalid", `${provider}/${model_id} is known to see no images`, {
      hint: "choose another model with rookery config model vision",
    });
  }
  return new GenerativeModel({
    ...modelConfig(choice, {}),
    tools: [],
    resolveApiKey: choice.resolveApiKey,
    fetch: fetchFor(choice.baseUrl),
    secrets: proxySecrets(env),
  });
}

function outcomeOf(error: unknown): LLMOutcome {
  if (!RookeryError.is(error)) return { status: "failed", message: errorText(error) };
  const { code, message, hint } = error;
  return {
    status: code === "model-auth" ? "auth" : "failed",
    permanent: true,
    message: hint === undefined ? message : `${message}; ${hint}`,
  };
}
