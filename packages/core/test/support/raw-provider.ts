import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An answer as it goes over the wire. */
interface WrittenAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
  /** Default: all at once. */
  readonly bytesPerWrite?: number;
}

/** A function has the response in its own hands. */
export type RawAnswer = WrittenAnswer | ((response: ServerResponse, request: IncomingMessage) => void);

export interface RawProvider {
  readonly url: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read the body of a request as it came over the wire.
  readonly bodies: any[];
  readonly headers: IncomingMessage["headers"][];
  readonly paths: string[];
  close(): Promise<void>;
}

/** A server that gives the answers in their order, byte for byte, and the last one from then on. */
export async function startRawProvider(...answers: RawAnswer[]): Promise<RawProvider> {
  const provider = { bodies: [] as unknown[], headers: [] as IncomingMessage["headers"][], paths: [] as string[] };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    provider.bodies.push(JSON.parse(Buffer.concat(chunks).toString()));
    provider.headers.push(request.headers);
    provider.paths.push(request.url ?? "");
    const answer = answers[Math.min(provider.bodies.length, answers.length) - 1];
    if (typeof answer === "function") answer(response, request);
    else if (answer) await write(response, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    ...provider,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function write(response: ServerResponse, answer: WrittenAnswer): Promise<void> {
  const body = Buffer.from(answer.body);
  response.socket?.setNoDelay(true);
  response.writeHead(answer.status ?? 200, { "content-type": "text/event-stream", ...answer.headers });
  const step = answer.bytesPerWrite ?? Math.max(1, body.length);
  for (let at = 0; at < body.length; at += step) {
    response.write(body.subarray(at, at + step));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}
