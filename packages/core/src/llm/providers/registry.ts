import { RookeryError } from "../../errors/rookery-error.ts";
import type { OpenProvider } from "./provider.ts";

/** The wire protocols by name; each is loaded when a model first speaks it. */
const clientTypes: ReadonlyMap<string, () => Promise<OpenProvider>> = new Map([
  ["openai-chat", async () => (await import("./openai-chat.ts")).openOpenaiChat],
  ["anthropic-messages", async () => (await import("./anthropic-messages.ts")).openAnthropicMessages],
  ["openai-responses", async () => (await import("./openai-responses.ts")).openOpenaiResponses],
  ["google", async () => (await import("./google.ts")).openGoogle],
]);

/** The protocol a model is likely to speak, by its name (PC-030). */
export function inferClientType(modelId: string): string {
  const name = modelId.toLowerCase();
  if (name.includes("claude")) return "anthropic-messages";
  if (name.includes("gemini")) return "google";
  return "openai-chat";
}

/** @throws {RookeryError} `config-invalid` for a protocol that is not there; lists those that are. */
export function assertClientType(clientType: string): void {
  loaderOf(clientType);
}

/** Loads the adapter of a protocol. @throws {RookeryError} `config-invalid` as {@link assertClientType}. */
export async function loadClientType(clientType: string): Promise<OpenProvider> {
  return loaderOf(clientType)();
}

function loaderOf(clientType: string): () => Promise<OpenProvider> {
  const load = clientTypes.get(clientType);
  if (load) return load;
  throw new RookeryError("config-invalid", `the client type ${JSON.stringify(clientType)} is not available`, {
    hint: `set client_type or --client-type to ${[...clientTypes.keys()].join(" or ")}`,
  });
}
