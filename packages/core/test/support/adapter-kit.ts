import { expect, onTestFinished } from "vitest";
import type { GenerativeModelConfig } from "../../src/llm/contract.ts";
import { GenerativeModel } from "../../src/llm/generative-model.ts";
import type { ToolDefinition } from "../../src/omnimessage/message.ts";
import type { ProviderClientType } from "../../src/testing/index.ts";
import { type RawAnswer, type RawProvider, startRawProvider } from "./raw-provider.ts";
import { type StrictOptions, type StrictServer, startStrictServer } from "./strict-server.ts";

/** A PNG of four pixels, in base64 and as an address. */
export const PIXEL_DATA =
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4AWM4oaAARAwQCgAfjgQheRdXpgAAAABJRU5ErkJggg==";
export const PIXEL: string = `data:image/png;base64,${PIXEL_DATA}`;

export const readFile: ToolDefinition = {
  name: "read_file",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

/** A call of `readFile` for each path, as a script has it. */
export function reads(...paths: string[]): { name: string; args: { path: string } }[] {
  return paths.map((path) => ({ name: "read_file", args: { path } }));
}

/** A strict server that is closed when the test is over. */
export async function strict(turns: unknown, options: Omit<StrictOptions, "scripts"> = {}): Promise<StrictServer> {
  const server = await startStrictServer({ scripts: turns, ...options });
  onTestFinished(() => server.close());
  return server;
}

/** A server of these answers that is closed when the test is over. */
export async function raw(...answered: RawAnswer[]): Promise<RawProvider> {
  const provider = await startRawProvider(...answered);
  onTestFinished(() => provider.close());
  return provider;
}

/** A transport that answers each request with these bytes, a piece a read, without a server between. */
export function inPieces(pieces: readonly Uint8Array[]): typeof fetch {
  const headers = { "content-type": "text/event-stream" };
  return async () => new Response(ReadableStream.from(pieces), { headers });
}

/** The server has refused nothing and lost nothing. */
export function noComplaints({ violations, warnings, internal }: StrictServer): void {
  expect({ violations, warnings, internal }).toEqual({ violations: [], warnings: [], internal: [] });
}

type OpenModel = (server: { readonly url: string }, config?: Partial<GenerativeModelConfig>) => GenerativeModel;

/** Opens models that speak a protocol to a server; each test names in `config` what it is about. */
export function modelOver(clientType: ProviderClientType, defaults: Partial<GenerativeModelConfig> = {}): OpenModel {
  const { path, ...own } = SPEAKERS[clientType];
  return ({ url }, config = {}) =>
    new GenerativeModel({ ...own, clientType, baseUrl: url + path, tools: [], ...defaults, ...config });
}

const SPEAKERS = {
  "openai-chat": { modelId: "deepseek-chat", apiKey: "sk-canary-1111", path: "/v1" },
  "openai-responses": { modelId: "gpt-5.1", apiKey: "sk-canary-1111", path: "/v1" },
  "anthropic-messages": { modelId: "claude-sonnet-4-5", apiKey: "sk-ant-canary-1111", path: "" },
  google: { modelId: "gemini-3-flash", apiKey: "canary-key-1111", path: "" },
} as const satisfies Record<ProviderClientType, { modelId: string; apiKey: string; path: string }>;
