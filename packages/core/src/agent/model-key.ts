import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { RookeryError } from "../errors/rookery-error.ts";
import { type CatalogueProvider, catalogueProvider } from "../llm/catalogue/catalogue.ts";
import { isLoopback } from "./base-url.ts";
import { providerVariable } from "./model-name.ts";
import type { ModelEntry, ModelName } from "./project-config.ts";

/** The variable that holds a provider's key: its name in capitals, other signs as `_`. */
export function keyVariable(provider: string): string {
  return providerVariable(provider, "API_KEY");
}

/** The variable to set for a provider's key: the one its vendor reads, else {@link keyVariable}. */
export async function vendorKeyVariable(provider: string): Promise<string> {
  return (await catalogueProvider(provider))?.key_variable ?? keyVariable(provider);
}

/** The variable in which the key of a provider is set: {@link keyVariable}, or the one its vendor reads. */
export function setKeyVariable(
  { id, key_variable }: Pick<CatalogueProvider, "id" | "key_variable">,
  env: NodeJS.ProcessEnv,
): string | undefined {
  return [keyVariable(id), key_variable].find((variable) => env[variable]);
}

/** Where the key of a model comes from: `stored`, `key_command` or the name of a variable; absent without a key. */
export async function keySource(
  { provider, api_key, key_command }: ModelName & Pick<ModelEntry, "api_key" | "key_command">,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  if (api_key) return "stored";
  if (key_command) return "key_command";
  return setKeyVariable({ id: provider, key_variable: await vendorKeyVariable(provider) }, env);
}

/**
 * Looks for a key at once, so that a missing one stops a run before it starts, and asks for it again at each request.
 *
 * @throws {RookeryError} `model-auth` where none is to be found and the server is not on this machine.
 */
export async function keyResolver(
  name: ModelName,
  entry: ModelEntry | undefined,
  baseUrl: string,
  env: NodeJS.ProcessEnv,
): Promise<() => Promise<string | undefined>> {
  const { api_key: apiKey, key_command: command } = entry ?? {};
  if (apiKey) return async () => apiKey;
  if (command) return () => commandOutput(command, `key_command of ${name.provider}/${entry?.model_id}`, env);
  const variable = await keySource(name, env);
  if (variable !== undefined) return async () => env[variable] || undefined;
  if (isLoopback(baseUrl)) return async () => undefined;
  throw new RookeryError("model-auth", `no key is known for the provider ${JSON.stringify(name.provider)}`, {
    hint: `set ${await vendorKeyVariable(name.provider)}, or store a key with rookery config model add`,
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
