import { debugFetch } from "../llm/network/debug-fetch.ts";
import type { DebugLog } from "../llm/network/debug-log.ts";
import { proxyFetch } from "../llm/network/proxy-fetch.ts";
import { proxyFor } from "../llm/network/proxy-for.ts";

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
  return debugLog ? debugFetch(send, debugLog) : send;
}
