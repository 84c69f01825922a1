import { namesProxy, proxyFor } from "./proxy-for.ts";

/**
 * A `fetch` that goes through the proxies of an environment, see {@link proxyFor}, which is read at each request. Node's
 * own one where no proxy is named now; what a proxy needs is loaded with the first request through one.
 *
 * Beside what `fetch` throws, it rejects with a `RookeryError` `config-invalid` for the address of a proxy that cannot be
 * read, and for a request that a proxy refuses.
 *
 * @param patienceMs - How long the caller waits for each part of an answer, zero or less: for ever; default 120000. Node's
 *   `fetch` gives up after five minutes: for longer waits another is loaded.
 */
export function proxyFetch(env: NodeJS.ProcessEnv, patienceMs = 120_000): typeof fetch {
  const outlasts = patienceMs <= 0 || patienceMs > FETCH_PATIENCE_MS;
  if (!outlasts && !namesProxy(env)) return fetch;
  const proxyOf = (url: URL) => proxyFor(url, env);
  let proxied: Promise<typeof fetch> | undefined;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (!outlasts && !proxyOf(url)) return fetch(input, init);
    proxied ??= import("./fetch-through.ts").then(({ fetchThrough }) => fetchThrough(proxyOf));
    return (await proxied)(input, init);
  };
}

/** undici's limits for the headers of an answer and for each part of its body. */
const FETCH_PATIENCE_MS = 300_000;
