import { GenerativeModel } from "../llm/generative-model.ts";
import { proxySecrets } from "../llm/network/proxy-for.ts";
import { type ModelProbe, PROBE_TOOL, probeModel } from "../llm/probe-model.ts";
import { redactSecrets } from "../llm/redact-secrets.ts";
import type { AgentOptions } from "./agent-options.ts";
import { modelFetch, openDebugFile } from "./model-fetch.ts";
import type { ModelWish } from "./model-name.ts";
import { agentPaths, dataRoot } from "./paths.ts";
import { readProjectConfig } from "./project-config.ts";
import { resolveModel } from "./resolve-model.ts";
import { modelConfig } from "./session-model.ts";

/** Which model to test, as for a session, and what is recorded of it, as for an agent. */
export interface TestModelOptions
  extends ModelWish,
    Pick<AgentOptions, "projectId" | "root" | "env" | "fetch" | "debugFile" | "onWarning"> {
  readonly signal?: AbortSignal;
}

/** What one call of a model showed, and which model that was. */
export interface ModelTest extends ModelProbe {
  readonly provider: string;
  readonly model_id: string;
  readonly client_type: string;
  /** Without a key that it may hold. */
  readonly base_url: string;
}

/**
 * Calls a model once, really, and says what works: streaming, tools, images, thinking.
 *
 * What the provider refuses or does wrong is in the result. It is asked for images and thinking unless configuration or
 * catalogue say that it has none.
 *
 * @throws {RookeryError} `usage`, `model-missing`, `model-auth`, `config-invalid`, before anything is sent.
 */
export async function testModel(options: TestModelOptions = {}): Promise<ModelTest> {
  const { projectId = "default_project", env = process.env, signal } = options;
  const { projectConfigFile } = agentPaths(dataRoot(options.root, env), projectId, "default_agent");
  const choice = await resolveModel(options, await readProjectConfig(projectConfigFile), env);
  const { provider, modelId, clientType: client_type, baseUrl } = choice;
  const debugLog = openDebugFile(options);
  try {
    const model = new GenerativeModel({
      ...modelConfig(choice, {}),
      resolveApiKey: choice.resolveApiKey,
      tools: [PROBE_TOOL],
      fetch: modelFetch(baseUrl, options.fetch, env, debugLog),
      secrets: proxySecrets(env),
    });
    const probe = await probeModel(model, {
      modelId,
      image: choice.vision !== false,
      thinking: choice.thinking !== false,
      ...(signal && { signal }),
    });
    return { provider, model_id: modelId, client_type, base_url: redactSecrets(baseUrl, []), ...probe };
  } finally {
    debugLog?.close();
  }
}
