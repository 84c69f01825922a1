import { RookeryError } from "../../errors/rookery-error.ts";
import { redactSecrets } from "../redact-secrets.ts";
import { wellFormedBody } from "./well-formed-body.ts";

/**
 * How a protocol's package reaches the service: with a body that every service reads, and the stream of the answer mended.
 * Answers that are not a success stay as they are.
 *
 * No redirection is followed: the key and the whole conversation would go to whatever it names.
 */
export function providerFetch(
  transport: typeof fetch,
  mend: (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>,
): typeof fetch {
  return async (input, init) => {
    const body = typeof init?.body === "string" ? { body: wellFormedBody(init.body) } : {};
    const response = await transport(input, { ...init, ...body, redirect: "manual" });
    const target = response.headers.get("location");
    if (response.status >= 300 && response.status < 400 && target !== null) throw redirected(response.status, target);
    if (!response.ok || !response.body) return response;
    // In place of the getter: another response around the stream would cost more than mending it.
    return Object.defineProperty(response, "body", { value: mend(response.body) });
  };
}

function redirected(status: number, target: string): RookeryError {
  const shown = redactSecrets(JSON.stringify(target.replace(/[?#].*$/s, "")), []);
  return new RookeryError("config-invalid", `the server answers HTTP ${status} and points to ${shown}`, {
    hint: "if that is the right server, set the base URL to its address; redirections are not followed",
  });
}
