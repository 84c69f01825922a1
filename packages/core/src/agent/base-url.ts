import { readBaseUrl } from "../llm/base-url.ts";
import { isLoopbackHost } from "../llm/network/loopback.ts";

/** Checks that `baseUrl` is an http(s) address without userinfo; `source` says where it came from. @throws {RookeryError} `config-invalid`. */
export function assertBaseUrl(baseUrl: string, source: string): void {
  readBaseUrl(baseUrl, source);
}

/** True for a server on this machine, which needs no key. */
export function isLoopback(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && isLoopbackHost(new URL(baseUrl).hostname);
}
