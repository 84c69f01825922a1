import { readBaseUrl } from "../llm/base-url.ts";

/** Checks that `baseUrl` is an http(s) address without userinfo; `source` says where it came from. @throws {RookeryError} `config-invalid`. */
export function assertBaseUrl(baseUrl: string, source: string): void {
  readBaseUrl(baseUrl, source);
}

/** True for a server on this machine, which needs no key. */
export function isLoopback(baseUrl: string): boolean {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "";
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}
