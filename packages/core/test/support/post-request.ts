import type { ProviderClientType, ProviderServer } from "../../src/testing/index.ts";

export const CLIENT_TYPES = ["openai-chat", "openai-responses", "anthropic-messages", "google"] as const;

const PATHS: Readonly<Record<ProviderClientType, string>> = {
  "openai-chat": "/chat/completions",
  "openai-responses": "/responses",
  "anthropic-messages": "/v1/messages",
  google: "/v1beta/models/m:streamGenerateContent?alt=sse",
};

/** Sends a body as it is; default: one that asks for a stream. */
export function post(
  server: ProviderServer,
  clientType: ProviderClientType,
  body: unknown = { model: "m", stream: true },
  options: RequestInit = {},
): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return fetch(server.baseUrl(clientType) + PATHS[clientType], { method: "POST", body: text, ...options });
}
