import { createServer, request as forward, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/** What a client asked a proxy for. */
interface ProxiedRequest {
  /** `CONNECT` for a tunnel. */
  readonly method: string;
  /** An absolute address; of a tunnel host and port. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

export interface ProxyServer {
  readonly url: string;
  readonly requests: readonly ProxiedRequest[];
  close(): Promise<void>;
}

/**
 * An HTTP proxy that leads every host to `port` of this machine.
 *
 * @param refuse - A status with which it answers every request in place of that.
 */
export async function startProxyServer(port: number, refuse?: number): Promise<ProxyServer> {
  const requests: ProxiedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const { method = "", url: target = "", headers } = request;
    requests.push({ method, target, headers });
    if (refuse !== undefined) return void response.writeHead(refuse).end("refused by the proxy");
    const { pathname, search } = new URL(target);
    const upstream = forward({ host: "127.0.0.1", port, method, headers, path: pathname + search }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers).flushHeaders();
      answer.on("error", () => response.destroy()).pipe(response);
    });
    response.on("close", () => upstream.destroy());
    request.pipe(upstream.on("error", () => response.destroy()));
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.on("connect", (request, client: Socket) => {
    requests.push({ method: "CONNECT", target: request.url ?? "", headers: request.headers });
    client.on("error", () => undefined);
    if (refuse !== undefined) return void client.end(`HTTP/1.1 ${refuse} Refused\r\ncontent-length: 0\r\n\r\n`);
    const target = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connected\r\n\r\n");
      client.pipe(target).pipe(client);
    });
    target.on("error", () => client.destroy());
    client.on("close", () => target.destroy());
    sockets.add(target);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
