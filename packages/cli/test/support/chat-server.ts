import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the server answers a request with; without `status` a stream of a reply. */
export interface ChatReply {
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: Iterable<string>;
  readonly calls?: readonly { readonly name: string; readonly args: Record<string, unknown> }[];
  /** Leaves the stream open after what was said. */
  readonly hangs?: boolean;
  /** Cuts the connection after what was said. */
  readonly breaksOff?: boolean;
}

export interface ChatServer {
  /** What `--base-url` takes. */
  readonly baseUrl: string;
  /** The bodies of the requests so far. */
  readonly requests: { readonly messages: readonly { readonly role: string; readonly content: unknown }[] }[];
  close(): void;
}

/** A model's server on this machine, which answers each request as `reply` says. */
export async function startChatServer(reply: (index: number) => ChatReply): Promise<ChatServer> {
  const requests: ChatServer["requests"] = [];
  const server = createServer(async (request, response) => {
    requests.push(JSON.parse(await bodyOf(request)));
    const answer = reply(requests.length - 1);
    if (answer.status === undefined) return stream(response, answer);
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function stream(response: ServerResponse, { text = [], calls = [], hangs, breaksOff }: ChatReply): Promise<void> {
  response.on("error", () => undefined).writeHead(200, { "content-type": "text/event-stream" });
  const send = async (choice: object): Promise<void> => {
    const chunk = {
      id: "c",
      object: "chat.completion.chunk",
      created: 0,
      model: "m",
      choices: [{ index: 0, ...choice }],
    };
    if (!response.write(`data: ${JSON.stringify(chunk)}\n\n`) && !response.destroyed) {
      await drained(response);
    }
  };
  await send({ delta: { role: "assistant", content: "" }, finish_reason: null });
  for (const content of text) {
    if (response.destroyed) return;
    await send({ delta: { content }, finish_reason: null });
  }
  for (const [index, { name, args }] of calls.entries()) {
    const call = { index, id: `call_${index}`, type: "function", function: { name, arguments: JSON.stringify(args) } };
    await send({ delta: { tool_calls: [call] }, finish_reason: null });
  }
  if (hangs) return;
  if (breaksOff) return void response.destroy();
  await send({ delta: {}, finish_reason: calls.length > 0 ? "tool_calls" : "stop" });
  response.end("data: [DONE]\n\n");
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}
