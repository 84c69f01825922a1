import { quietly } from "../environment/warn-on-stderr.ts";
import { debugFetch } from "../llm/network/debug-fetch.ts";
import { type DebugLog, openDebugLog } from "../llm/network/debug-log.ts";
import { proxyFetch } from "../llm/network/proxy-fetch.ts";
import { proxyFor, proxySecrets } from "../llm/network/proxy-for.ts";
import type { AgentOptions } from "./agent-options.ts";

/**
 * How the requests to a model's server are sent: as the program says, else through the proxy that the environment names;
 * recorded where there is a debug log.
 *
 * @throws {RookeryError} `config-invalid` when the environment's proxy for this server has no usable address.
 */
export function modelFetch(
  baseUrl: string,
  given: typeof fetch | undefined,
  env: NodeJS.ProcessEnv,
  debugLog: DebugLog | undefined,
): typeof fetch {
  if (!given) proxyFor(new URL(baseUrl), env);
  const send = given ?? proxyFetch(env);
  return debugLog ? debugFetch(send, debugLog, proxySecrets(env)) : send;
}

/** The debug log that was asked for. @throws {RookeryError} `config-invalid` for what is no file of the user's own. */
export function openDebugFile({
  debugFile,
  onWarning,
}: Pick<AgentOptions, "debugFile" | "onWarning">): DebugLog | undefined {
  if (debugFile === undefined) return undefined;
  return openDebugLog(debugFile, (message) => quietly(onWarning)({ code: "debug-unwritten", message }));
}
