import { namesProxy, proxyFor } from "./proxy-for.ts";

/**
 * A `fetch` that goes through the proxies of an environment, see {@link proxyFor}, which is read at each request. Node's
 * own one where no proxy is named now; what a proxy needs is loaded with the first request through one.
 *
 * Beside what `fetch` throws, it rejects with a `RookeryError` `config-invalid` for the address of a proxy that cannot be
 * read, and for a request that a proxy refuses.
 */
export function proxyFetch(env: NodeJS.ProcessEnv): typeof fetch {
  if (!namesProxy(env)) return fetch;
  const proxyOf = (url: URL) => proxyFor(url, env);
  let proxied: Promise<typeof fetch> | undefined;
  return async (input, init) => {
    if (!proxyOf(new URL(input instanceof Request ? input.url : input))) return fetch(input, init);
    proxied ??= import("./fetch-through.ts").then(({ fetchThrough }) => fetchThrough(proxyOf));
    return (await proxied)(input, init);
  };
}
