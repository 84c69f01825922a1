import { RookeryError } from "../errors/rookery-error.ts";

/** Checks that `baseUrl` is an http(s) address; `source` says where it came from. @throws {RookeryError} `config-invalid`. */
export function assertBaseUrl(baseUrl: string, source: string): void {
  if (["http:", "https:"].includes(parsed(baseUrl)?.protocol ?? "")) return;
  throw new RookeryError(
    "config-invalid",
    `${source} must be an http or https address, got ${JSON.stringify(baseUrl)}`,
    {
      hint: "write it like http://127.0.0.1:8080/v1",
    },
  );
}

/** True for a server on this machine, which needs no key. */
export function isLoopback(baseUrl: string): boolean {
  const host = parsed(baseUrl)?.hostname ?? "";
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

function parsed(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}
