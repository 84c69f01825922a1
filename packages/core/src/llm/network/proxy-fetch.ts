import { directFetch } from "./direct-fetch.ts";
import { namesProxy, proxyFor } from "./proxy-for.ts";

/**
 * A `fetch` that goes through the proxies of an environment, see {@link proxyFor}, which is read at each request;
 * {@link directFetch} where no proxy is named now. What a proxy needs is loaded with the first request through one.
 *
 * Beside what `fetch` throws, it rejects with a `RookeryError` `config-invalid` for the address of a proxy that cannot be
 * read, and for a request that a proxy refuses. How long an answer may take is for the caller to say.
 */
export function proxyFetch(env: NodeJS.ProcessEnv): typeof fetch {
  if (!namesProxy(env)) return directFetch;
  const proxyOf = (url: URL) => proxyFor(url, env);
  let proxied: Promise<typeof fetch> | undefined;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (!proxyOf(url)) return directFetch(input, init);
    proxied ??= import("./fetch-through.ts").then(({ fetchThrough }) => fetchThrough(proxyOf));
    return (await proxied)(input, init);
  };
}
