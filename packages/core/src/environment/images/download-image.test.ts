import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test, vi } from "vitest";
import { startProxyServer } from "../../../test/support/proxy-server.ts";
import { SAMPLE_PNG } from "../../../test/support/sample-images.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../../../test/support/test-certificate.ts";
import { type DownloadOptions, downloader } from "./download-image.ts";

const PRIVATE = "is not on the public internet, and images are not fetched from private addresses";
/** Of this machine's addresses the tests call one public. */
const isAllowed = (address: string): boolean => address === "127.0.0.1";

interface TestServer {
  readonly port: number;
  readonly hits: string[];
}

async function serve(
  listener: RequestListener,
  { host = "127.0.0.1", tls = false }: { host?: string; tls?: boolean } = {},
): Promise<TestServer> {
  const hits: string[] = [];
  const answer: RequestListener = (request, response) => {
    hits.push(request.url ?? "");
    listener(request, response);
  };
  const server = tls ? createTlsServer({ cert: TEST_CERTIFICATE, key: TEST_KEY }, answer) : createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, hits };
}

const servePicture = (): Promise<TestServer> => serve((_, response) => response.end(SAMPLE_PNG));
const redirectTo =
  (location: (port: number) => string): RequestListener =>
  (request, response) =>
    response.writeHead(302, { location: location(request.socket.localPort ?? 0) }).end("elsewhere");

function download(address: string, options: DownloadOptions = {}, signal?: AbortSignal): Promise<Buffer> {
  return downloader({ isAllowed, env: {}, ...options })(new URL(address), signal);
}

test("an image is fetched whole, whatever its type is called", async () => {
  const { port } = await serve((_, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end(SAMPLE_PNG),
  );
  expect(await download(`http://127.0.0.1:${port}/a.txt`)).toEqual(SAMPLE_PNG);
});

test("by itself no address of this machine is fetched, by number or by name", async () => {
  const { port, hits } = await servePicture();
  for (const host of ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0.0.0.0", "[::1]"]) {
    const fetched = downloader({ env: {} })(new URL(`http://${host}:${port}/`));
    await expect(fetched).rejects.toThrow(PRIVATE);
  }
  expect(hits).toEqual([]);
});

test("a redirect to an address that is not allowed is not followed, by number or by name", async () => {
  const secret = await serve((_, response) => response.end(SAMPLE_PNG), { host: "0.0.0.0" });
  const resolve = async (host: string) => [{ address: host === "inner.test" ? "127.0.0.2" : "127.0.0.1", family: 4 }];
  for (const host of ["127.0.0.2", "inner.test"]) {
    const { port, hits } = await serve(redirectTo(() => `http://${host}:${secret.port}/`));
    const fetched = download(`http://pictures.test:${port}/`, { resolve });
    await expect(fetched).rejects.toThrow(`127.0.0.2${host === "inner.test" ? "," : ""} ${PRIVATE}`);
    expect(hits).toEqual(["/"]);
  }
  expect(secret.hits).toEqual([]);
});

test("the connection goes to the address that was judged: a name that leads elsewhere the next time is judged again", async () => {
  const inside = await serve((_, response) => response.end("inside"), { host: "0.0.0.0" });
  let asked = 0;
  const resolve = async () => [{ address: asked++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
  const outside = await serve((_, response) => response.end(SAMPLE_PNG));
  expect(await download(`http://rebind.test:${outside.port}/`, { resolve })).toEqual(SAMPLE_PNG);
  expect(asked).toBe(1);
  await expect(download(`http://rebind.test:${inside.port}/`, { resolve })).rejects.toThrow(PRIVATE);
  expect(inside.hits).toEqual([]);
});

test("a name of which any address is private is refused", async () => {
  const { port, hits } = await servePicture();
  const resolve = async () => ["127.0.0.1", "10.0.0.1"].map((address) => ({ address, family: 4 }));
  await expect(download(`http://both.test:${port}/`, { resolve })).rejects.toThrow(
    "both.test, which leads to 10.0.0.1,",
  );
  expect(hits).toEqual([]);
});

test("five redirects are followed, relative ones too, and a sixth is not", async () => {
  const { port, hits } = await serve((request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end(SAMPLE_PNG);
    else response.writeHead(307, { location: `/${left - 1}` }).end();
  });
  expect(await download(`http://127.0.0.1:${port}/5`)).toEqual(SAMPLE_PNG);
  expect(hits).toHaveLength(6);
  await expect(download(`http://127.0.0.1:${port}/6`)).rejects.toThrow("it was redirected more than 5 times");
});

test.each([
  ["file:///etc/passwd", "it was redirected to an address that begins with file:, not http: or https:"],
  ["http://me:secret@127.0.0.1/", "it was redirected to an address that holds a user name or a password"],
  ["http://", "it was redirected to what is no valid address"],
])("a redirect to %s is an error without what it holds", async (location, message) => {
  const { port } = await serve(redirectTo(() => location));
  const error = await download(`http://127.0.0.1:${port}/`).catch((thrown: Error) => thrown);
  expect(String(error)).toContain(message);
  expect(String(error)).not.toContain("secret");
});

test("a redirect from https to http is not followed", async () => {
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  onTestFinished(() => void vi.unstubAllEnvs());
  const plain = await servePicture();
  const { port } = await serve(
    redirectTo(() => `http://127.0.0.1:${plain.port}/`),
    { tls: true },
  );
  await expect(download(`https://127.0.0.1:${port}/`)).rejects.toThrow(
    `it was redirected from https to http://127.0.0.1:${plain.port}/, which is not encrypted`,
  );
  expect(plain.hits).toEqual([]);
});

test.each([404, 500, 204, 206])("HTTP %i says so", async (status) => {
  const { port } = await serve((_, response) => response.writeHead(status).end());
  await expect(download(`http://127.0.0.1:${port}/`)).rejects.toThrow(`the server answered HTTP ${status}`);
});

test.each([
  ["announced", { "content-length": String(2 ** 40) }, "it has 1099511627776 bytes, over 5 MiB"],
  ["not announced", {}, "it has more than 5 MiB"],
])("an endless body whose length is %s is left at the limit (PT-166)", async (_, headers, message) => {
  let left: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => {
    left = resolve;
  });
  let sentBytes = 0;
  const { port } = await serve((_request, response) => {
    response.on("close", left).writeHead(200, headers);
    const more = (): void => {
      while (!response.destroyed) {
        sentBytes += 65_536;
        if (!response.write(Buffer.alloc(65_536))) return void response.once("drain", more);
      }
    };
    more();
  });
  await expect(download(`http://127.0.0.1:${port}/`)).rejects.toThrow(message);
  await gone;
  expect(sentBytes).toBeLessThan(32 * 1024 * 1024);
});

test("what grows beyond the limit when it is unpacked is left there too", async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const { port } = await serve((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
  await expect(download(`http://127.0.0.1:${port}/`)).rejects.toThrow("it has more than 5 MiB");
});

test("an abort ends a body that does not end, at both ends", async () => {
  let left: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => {
    left = resolve;
  });
  const controller = new AbortController();
  const { port } = await serve((_, response) => {
    response.on("close", left).write("\x89PNG", () => controller.abort());
  });
  await expect(download(`http://127.0.0.1:${port}/`, {}, controller.signal)).rejects.toMatchObject({
    name: "AbortError",
  });
  await gone;
});

test.each([
  ["breaks off", "other side closed", (port: number) => `http://127.0.0.1:${port}/`],
  ["has no name", "getaddrinfo ENOTFOUND", () => "http://nobody.invalid/"],
])("a connection that %s says why", async (_, reason, address) => {
  const { port } = await serve((request) => request.socket.destroy());
  const resolve = async (): Promise<never> => {
    throw Object.assign(new Error("getaddrinfo ENOTFOUND nobody.invalid"), { code: "ENOTFOUND" });
  };
  await expect(download(address(port), { resolve })).rejects.toThrow(`the connection failed: ${reason}`);
});

test("the company's proxy is used, and private hosts are refused before it is asked", async () => {
  const { port } = await servePicture();
  const proxy = await startProxyServer(port);
  onTestFinished(() => proxy.close());
  const resolve = async (host: string) => {
    if (host === "unknown.test") throw new Error("only the proxy knows it");
    return [{ address: "10.0.0.1", family: 4 }];
  };
  const options = { env: { HTTP_PROXY: proxy.url }, resolve };
  expect(await download("http://unknown.test/a.png", options)).toEqual(SAMPLE_PNG);
  await expect(download("http://inner.test/a.png", options)).rejects.toThrow(PRIVATE);
  await expect(download("http://10.0.0.1/a.png", options)).rejects.toThrow(PRIVATE);
  expect(proxy.requests.map(({ target }) => target)).toEqual(["http://unknown.test/a.png"]);
});
