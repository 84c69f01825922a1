import { readBaseUrl } from "../base-url.ts";

/**
 * A base address without slashes at its end, and its query apart: empty, or with its `?`.
 *
 * @throws {RookeryError} `config-invalid` as {@link readBaseUrl}.
 */
export function readAddress(baseUrl: string): { address: string; query: string } {
  const { origin, pathname, search } = readBaseUrl(baseUrl);
  return { address: `${origin}${pathname}`.replace(/\/+$/, ""), query: search };
}
