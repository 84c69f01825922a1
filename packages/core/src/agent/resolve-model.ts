import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { RookeryError } from "../errors/rookery-error.ts";
import type { ThinkingLevelName } from "../llm/contract.ts";
import { assertClientType, inferClientType } from "../llm/providers/registry.ts";
import { assertBaseUrl, isLoopback } from "./base-url.ts";
import type { ModelEntry, ModelName, ProjectConfig } from "./project-config.ts";

/** What a caller asks for; `provider` and `modelId` come as a pair. */
export interface ModelWish {
  readonly provider?: string;
  readonly modelId?: string;
  readonly clientType?: string;
  readonly baseUrl?: string;
}

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
}

/**
 * Settles which model a session talks to, and how: the wish, else `ROOKERY_MODEL`, else the project's default.
 *
 * @throws {RookeryError} `usage` for half a pair, `model-missing` when nothing names a model, `model-auth` when its key is
 *   not to be found, `config-invalid` for an address or protocol that is not usable.
 */
export function resolveModel(wish: ModelWish, config: ProjectConfig, env: NodeJS.ProcessEnv): ModelChoice {
  const name = chosenName(wish, config, env);
  const entry = config.models?.find((model) => model.provider === name.provider && model.model_id === name.model_id);
  const clientType = wish.clientType ?? entry?.client_type ?? inferClientType(name.model_id);
  assertClientType(clientType);
  const baseUrl = chosenBaseUrl(wish, entry, name.provider, env);
  return {
    provider: name.provider,
    modelId: name.model_id,
    clientType,
    baseUrl,
    resolveApiKey: keyResolver(name.provider, entry, baseUrl, env),
    ...(entry?.context_window !== undefined && { contextWindow: entry.context_window }),
    ...(entry?.max_tokens !== undefined && { maxTokens: entry.max_tokens }),
    ...(entry?.thinking_level && { thinkingLevel: entry.thinking_level }),
    ...(entry?.headers && { headers: entry.headers }),
    ...(entry?.vision !== undefined && { vision: entry.vision }),
  };
}

/**
 * Splits `PROVIDER/MODEL_ID` at its first slash; a model id may hold more of them.
 *
 * @param source - Where the text came from, for the error.
 * @throws {RookeryError} `usage` without both parts.
 */
export function parseModelName(text: string, source: string): ModelName {
  const slash = text.indexOf("/");
  if (slash > 0 && slash < text.length - 1) {
    return { provider: text.slice(0, slash), model_id: text.slice(slash + 1) };
  }
  throw new RookeryError("usage", `${source} must be PROVIDER/MODEL_ID, got ${JSON.stringify(text)}`, {
    hint: "write it like openai/gpt-5 or local/qwen3",
  });
}

/**
 * Both halves of a wish for a model, or neither.
 *
 * @throws {RookeryError} `usage` for one half.
 */
export function modelPair({ provider, modelId }: ModelWish): { provider: string; modelId: string } | undefined {
  if (provider !== undefined && modelId !== undefined) return { provider, modelId };
  if (provider === undefined && modelId === undefined) return undefined;
  const [given, lacking] = provider === undefined ? ["model id", "provider"] : ["provider", "model id"];
  throw new RookeryError("usage", `the ${given} ${JSON.stringify(provider ?? modelId)} came without a ${lacking}`, {
    hint: "give both, as --model PROVIDER/MODEL_ID",
  });
}

/** The variable that holds a provider's key: its name in capitals, other signs as `_`. */
export function keyVariable(provider: string): string {
  return providerVariable(provider, "API_KEY");
}

function chosenName(wish: ModelWish, config: ProjectConfig, env: NodeJS.ProcessEnv): ModelName {
  const pair = modelPair(wish);
  if (pair) return { provider: pair.provider, model_id: pair.modelId };
  if (env.ROOKERY_MODEL) return parseModelName(env.ROOKERY_MODEL, "ROOKERY_MODEL");
  if (config.default_model) return config.default_model;
  throw new RookeryError("model-missing", "no model is chosen", {
    hint:
      "pass --model PROVIDER/MODEL_ID, set ROOKERY_MODEL, store one with rookery config model add PROVIDER/MODEL_ID " +
      "--set-default, or use a server of your own: --model local/NAME --base-url http://127.0.0.1:11434/v1",
  });
}

function chosenBaseUrl(
  wish: ModelWish,
  entry: ModelEntry | undefined,
  provider: string,
  env: NodeJS.ProcessEnv,
): string {
  const variable = providerVariable(provider, "BASE_URL");
  const sources: [source: string, baseUrl: string | undefined][] = [
    ["the base URL", wish.baseUrl],
    [`base_url of ${provider}/${entry?.model_id}`, entry?.base_url],
    [variable, env[variable] || undefined],
    ["the base URL", provider === "openai" ? "https://api.openai.com/v1" : undefined],
  ];
  for (const [source, baseUrl] of sources) {
    if (baseUrl === undefined) continue;
    assertBaseUrl(baseUrl, source);
    return baseUrl;
  }
  throw new RookeryError("config-invalid", `no address is known for the provider ${JSON.stringify(provider)}`, {
    hint: `pass --base-url, set ${variable}, or store it with rookery config model add --base-url`,
  });
}

/** Looks for a key at once, so that a missing one stops a run before it starts, and asks for it again at each request. */
function keyResolver(
  provider: string,
  entry: ModelEntry | undefined,
  baseUrl: string,
  env: NodeJS.ProcessEnv,
): () => Promise<string | undefined> {
  const { api_key: apiKey, key_command: command } = entry ?? {};
  if (apiKey) return async () => apiKey;
  if (command) return () => commandOutput(command, `key_command of ${provider}/${entry?.model_id}`, env);
  const variable = keyVariable(provider);
  if (env[variable] || isLoopback(baseUrl)) return async () => env[variable] || undefined;
  throw new RookeryError("model-auth", `no key is known for the provider ${JSON.stringify(provider)}`, {
    hint: `set ${variable}, or store a key with rookery config model add`,
  });
}

const KEY_COMMAND_TIMEOUT_MS = 10_000;

/** What the command printed stays out of every message: it may be the key. */
async function commandOutput(command: string, source: string, env: NodeJS.ProcessEnv): Promise<string> {
  const running = promisify(execFile)("sh", ["-c", command], {
    env,
    timeout: KEY_COMMAND_TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  running.child.stdin?.end();
  const output = await running.catch((error: { killed?: boolean; code?: unknown }) => {
    const how = error.killed ? `took longer than ${KEY_COMMAND_TIMEOUT_MS / 1000} s` : `failed with ${error.code}`;
    throw keyCommandError(source, how);
  });
  const key = output.stdout.trim();
  if (key === "") throw keyCommandError(source, "printed nothing");
  return key;
}

function keyCommandError(source: string, how: string): RookeryError {
  return new RookeryError("model-auth", `${source} ${how}`, { hint: "run it by hand and correct it" });
}

function providerVariable(provider: string, suffix: string): string {
  return `${provider.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_${suffix}`;
}
