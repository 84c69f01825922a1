import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { isJsonObject, parseJson } from "../../llm/json-value.ts";
import { ProtocolAnswerer, type ProviderRequest, type SharedState } from "./answer-request.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { google } from "./google.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { type ProviderScript, readScript } from "./script.ts";
import type { WireProtocol } from "./wire-protocol.ts";

/** The wire protocols of the server, all at one address. */
export type ProviderClientType = "openai-chat" | "openai-responses" | "anthropic-messages" | "google";

const PROTOCOLS: Readonly<Record<ProviderClientType, WireProtocol>> = {
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  "anthropic-messages": anthropicMessages,
  google,
};

export interface ProviderServerOptions {
  /** What the model says. Asked for more than a list has, the server answers with an error that cannot be mended. */
  readonly replies: ProviderScript<ProviderRequest<ProviderClientType>>;
}

/** A model server on the loopback that answers from a script and reads what it is sent. */
export interface ProviderServer {
  /** The base address as the vendor's own SDK takes it. */
  baseUrl(clientType: ProviderClientType): string;
  /** The requests for a reply so far, in their order. */
  readonly requests: readonly ProviderRequest<ProviderClientType>[];
  /**
   * What later requests lost or changed of the replies that the server gave: text, thinking with its fidelity, calls; and
   * calls without an answer. In the order of the requests, one sentence each.
   */
  readonly problems: readonly string[];
  /** Breaks off what is still streaming; may be called twice. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a server that speaks the four wire protocols over HTTP, on a free port.
 *
 * @throws {RangeError} For a number in a list of replies that cannot be.
 */
export async function startProviderServer({ replies }: ProviderServerOptions): Promise<ProviderServer> {
  const shared: SharedState<ProviderClientType> = {
    requests: [],
    problems: [],
    next: readScript(replies),
    newId: idCounter(),
    closed: false,
  };
  const answerers = clientTypes().map((clientType) => {
    const protocol = PROTOCOLS[clientType];
    return { endpoint: protocol.endpoint, answerer: new ProtocolAnswerer(clientType, protocol, shared) };
  });
  const server = createServer((request, response) => {
    route(answerers, request, response).catch(() => response.destroy());
  });
  const origin = await listen(server);
  const close = (): Promise<void> => {
    shared.closed = true;
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  return {
    baseUrl: (clientType) => `${origin}${PROTOCOLS[clientType].basePath}`,
    requests: shared.requests,
    problems: shared.problems,
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Endpoint {
  readonly endpoint: RegExp;
  readonly answerer: ProtocolAnswerer<ProviderClientType>;
}

/** Rejects when the client breaks off inside of its request. */
async function route(
  endpoints: readonly Endpoint[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = ""] = (request.url ?? "").split("?");
  const content = await text(request);
  const found = endpoints.find(({ endpoint }) => endpoint.test(path));
  if (!found || request.method !== "POST") {
    const message = `there is no ${request.method} ${path}; this server answers POST to ${PATHS.join(", ")}`;
    response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify({ error: { message } }));
    return;
  }
  const body = parseJson(content);
  if (!isJsonObject(body)) return found.answerer.refuse(response, "the body of the request is not a JSON object");
  await found.answerer.answer({ path, body }, request.headers, response);
}

const PATHS = ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1beta/models/MODEL:streamGenerateContent"];

function clientTypes(): ProviderClientType[] {
  return Object.keys(PROTOCOLS) as ProviderClientType[];
}

function idCounter(): (prefix: string) => string {
  const counts = new Map<string, number>();
  return (prefix) => {
    const next = (counts.get(prefix) ?? 0) + 1;
    counts.set(prefix, next);
    return `${prefix}_${next}`;
  };
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}
