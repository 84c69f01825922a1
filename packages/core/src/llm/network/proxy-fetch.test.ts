import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { collectReply } from "../../../test/support/collect-reply.ts";
import { type ProxyServer, startProxyServer } from "../../../test/support/proxy-server.ts";
import { type RawAnswer, startRawProvider } from "../../../test/support/raw-provider.ts";
import { runTypeScript } from "../../../test/support/run-typescript.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../../../test/support/test-certificate.ts";
import { userText } from "../../omnimessage/build.ts";
import { GenerativeModel } from "../generative-model.ts";
import { directFetch } from "./direct-fetch.ts";
import { proxyFetch } from "./proxy-fetch.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const { close } of opened.splice(0)) await close();
});

test("without a proxy in the environment it is the direct one", () => {
  expect(proxyFetch({})).toBe(directFetch);
  expect(proxyFetch({ NO_PROXY: "*", HTTPS_PROXY: "" })).toBe(directFetch);
});

test("http is asked of the proxy by its whole address, and the answer is the server's", async () => {
  const port = await serve((request, response) => {
    response.writeHead(201, { "x-from": "server" }).end(`${request.method} ${request.url} ${request.headers.host}`);
  });
  const proxy = await proxyTo(port);
  const send = proxyFetch({ HTTP_PROXY: proxy.url.replace("//", "//me:p%40ss@") });
  const response = await send("http://model.test/v1?q=1", { method: "POST", body: "{}", headers: { "x-a": "b" } });
  expect([response.status, response.headers.get("x-from")]).toEqual([201, "server"]);
  expect(await response.text()).toBe("POST /v1?q=1 model.test");
  expect(proxy.requests).toEqual([
    { method: "POST", target: "http://model.test/v1?q=1", headers: expect.objectContaining({ "x-a": "b" }) },
  ]);
  expect(proxy.requests[0]?.headers["proxy-authorization"]).toBe(`Basic ${btoa("me:p@ss")}`);
});

test("a Request of Node's own class is taken too", async () => {
  const port = await serve((request, response) => {
    request.pipe(response.writeHead(200, { "x-a": String(request.headers["x-a"]) }));
  });
  const proxy = await proxyTo(port);
  const request = new Request("http://model.test/", { method: "POST", body: "text", headers: { "x-a": "b" } });
  const response = await proxyFetch({ HTTP_PROXY: proxy.url })(request);
  expect([response.headers.get("x-a"), await response.text()]).toEqual(["b", "text"]);
});

test("https goes through a tunnel, streams, and sees the server's own certificate", async () => {
  const secure = createSecureServer({ cert: TEST_CERTIFICATE, key: TEST_KEY }, (request, response) => {
    response.write("first ");
    request.on("data", (body) => response.end(`${body} ${request.headers.host}`));
  });
  const proxy = await proxyTo(await portOf(secure));
  const certificate = join(mkdtempSync(join(tmpdir(), "rookery-certificate-")), "certificate.pem");
  writeFileSync(certificate, TEST_CERTIFICATE);
  const script = `
    const { proxyFetch } = await import(${JSON.stringify(new URL("./proxy-fetch.ts", import.meta.url).href)});
    const send = proxyFetch(process.env);
    const response = await send("https://model.test/", { method: "POST", body: "body" });
    process.stdout.write(response.status + " " + (await response.text()));`;
  const output = await runTypeScript(script, { https_proxy: proxy.url, NODE_EXTRA_CA_CERTS: certificate });
  expect(output).toBe("200 first body model.test");
  expect(proxy.requests).toMatchObject([
    { method: "CONNECT", target: "model.test:443", headers: { host: "model.test:443" } },
  ]);
  expect(proxy.requests[0]?.headers).not.toHaveProperty("proxy-authorization");
});

test("this machine, and what NO_PROXY names, never gets to the proxy", async () => {
  const port = await serve((_, response) => response.end("direct"));
  const proxy = await proxyTo(port);
  const send = proxyFetch({ HTTP_PROXY: proxy.url });
  expect(await (await send(`http://127.0.0.1:${port}/`)).text()).toBe("direct");
  const exempt = proxyFetch({ HTTP_PROXY: proxy.url, NO_PROXY: "model.test" });
  await expect(exempt("http://model.test/")).rejects.toThrow("fetch failed");
  expect(proxy.requests).toEqual([]);
});

test("a redirect to this machine leaves the proxy", async () => {
  const port = await serve((request, response) => {
    if (request.url === "/end") response.end("arrived");
    else response.writeHead(302, { location: `http://127.0.0.1:${port}/end` }).end();
  });
  const proxy = await proxyTo(port);
  const response = await proxyFetch({ HTTP_PROXY: proxy.url })("http://model.test/");
  expect(await response.text()).toBe("arrived");
  expect(proxy.requests.map(({ target }) => target)).toEqual(["http://model.test/"]);
});

test.each(["http", "https"])(
  "a reply of a model over %s is refused for good by a proxy that wants a password",
  async (scheme) => {
    const { outcome, messages } = await requestThrough(await proxyTo(1, 407), scheme, "me:wrong-password@");
    expect(outcome).toEqual({
      status: "failed",
      permanent: true,
      message:
        `the proxy in ${scheme.toUpperCase()}_PROXY asks for a user name and password (HTTP 407); ` +
        "put the right ones into the variable, in front of the host: USER:PASSWORD@HOST:PORT",
    });
    expect(messages).toEqual([]);
  },
);

test("a tunnel that the proxy forbids is refused for good, with what to do", async () => {
  const { outcome } = await requestThrough(await proxyTo(1, 403), "https");
  expect(outcome).toEqual({
    status: "failed",
    permanent: true,
    message:
      "the proxy in HTTPS_PROXY gave no connection to model.test:443 (HTTP 403); " +
      "have the host allowed there, or name it in NO_PROXY if it can be reached directly",
  });
});

test.each(["http", "https"])("a proxy that cannot reach the server over %s is tried again", async (scheme) => {
  const { outcome } = await requestThrough(await proxyTo(1, 502), scheme);
  expect(outcome).toMatchObject({ status: "timeout", message: expect.stringContaining("HTTP 502") });
  expect(outcome).not.toHaveProperty("permanent");
});

test.each(["http", "https"])(
  "a proxy that is not there is named in the failure of a request over %s",
  async (scheme) => {
    const gone = await startProxyServer(1);
    await gone.close();
    const { outcome } = await requestThrough(gone, scheme, "me:canary-4711@");
    expect(outcome.status).toBe("timeout");
    expect(outcome.message).toContain(
      `no connection through the proxy in ${scheme.toUpperCase()}_PROXY: connect ECONNREFUSED`,
    );
    expect(JSON.stringify(outcome)).not.toContain("canary-4711");
  },
);

test("a proxy that hangs up in place of a tunnel is named, and tried again", async () => {
  const { outcome } = await requestThrough(await proxyTo(1), "https");
  expect(outcome.status).toBe("timeout");
  expect(outcome.message).toContain("no connection through the proxy in HTTPS_PROXY: other side closed");
});

test("a reply streams through the proxy, and an abort ends it at both ends", async () => {
  let gone: () => void = () => undefined;
  const left = new Promise<void>((resolve) => {
    gone = resolve;
  });
  const controller = new AbortController();
  const { outcome, complete } = await modelBehindProxy(
    (response) => {
      response.on("close", gone).writeHead(200, { "content-type": "text/event-stream" }).write(delta("Hel"));
    },
    { signal: controller.signal, onMessage: () => controller.abort() },
  );
  expect(outcome).toEqual({ status: "aborted" });
  expect(complete).toMatchObject([{ text: "Hel", stop_reason: "aborted" }]);
  await left;
});

test("silence behind the proxy is the idle time-out", async () => {
  const { outcome } = await modelBehindProxy(
    (response) => response.writeHead(200, { "content-type": "text/event-stream" }).write(delta("Hel")),
    { requestTimeoutMs: 50 },
  );
  expect(outcome).toEqual({ status: "timeout", message: "the provider sent nothing for 50 ms" });
});

async function modelBehindProxy(
  answer: Extract<RawAnswer, (...args: never[]) => void>,
  options: { signal?: AbortSignal; requestTimeoutMs?: number; onMessage?: () => void },
) {
  const provider = await startRawProvider(answer);
  opened.push(provider);
  const proxy = await proxyTo(Number(new URL(provider.url).port));
  const model = new GenerativeModel({
    modelId: "m",
    baseUrl: "http://model.test/v1",
    tools: [],
    ...(options.requestTimeoutMs !== undefined && { requestTimeoutMs: options.requestTimeoutMs }),
    fetch: proxyFetch({ HTTP_PROXY: proxy.url }),
  });
  const parameters = { newMessages: [userText("Hi")], ...(options.signal && { signal: options.signal }) };
  return collectReply(model, parameters, options.onMessage);
}

function delta(content: string): string {
  return `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content } }] })}\n\n`;
}

function requestThrough(proxy: ProxyServer, scheme: string, credentials = "") {
  const variable = `${scheme.toUpperCase()}_PROXY`;
  const send = proxyFetch({ [variable]: proxy.url.replace("//", `//${credentials}`) });
  const model = new GenerativeModel({ modelId: "m", baseUrl: `${scheme}://model.test/v1`, tools: [], fetch: send });
  return collectReply(model, { newMessages: [userText("Hi")] });
}

async function proxyTo(port: number, refuse?: number): Promise<ProxyServer> {
  const proxy = await startProxyServer(port, refuse);
  opened.push(proxy);
  return proxy;
}

function serve(listener: RequestListener): Promise<number> {
  return portOf(createServer(listener));
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return (server.address() as AddressInfo).port;
}
