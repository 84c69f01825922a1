import { RookeryError } from "../errors/rookery-error.ts";
import { redactSecrets } from "./redact-secrets.ts";

/**
 * Reads the base address of a service; `source` says where it came from.
 *
 * @throws {RookeryError} `config-invalid` for anything but an http(s) address, and for one with a user name or password:
 *   requests would go out without them.
 */
export function readBaseUrl(baseUrl: string, source = "the base URL"): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    const found = redactSecrets(JSON.stringify(baseUrl), []);
    throw new RookeryError("config-invalid", `${source} must be an http or https address, got ${found}`, {
      hint: "write it like http://127.0.0.1:8080/v1",
    });
  }
  if (url.username !== "" || url.password !== "") {
    throw new RookeryError("config-invalid", `${source} must not hold a user name or password`, {
      hint: "set the key of the model, or an authorization header, in their place",
    });
  }
  return url;
}
