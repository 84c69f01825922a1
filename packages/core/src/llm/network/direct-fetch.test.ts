import dns from "node:dns";
import { getEventListeners } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test, vi } from "vitest";
import { runTypeScript } from "../../../test/support/run-typescript.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../../../test/support/test-certificate.ts";
import { directFetch } from "./direct-fetch.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

describe.each([
  ["Node's fetch", fetch],
  ["the direct one", directFetch],
])("with %s", (_, send) => {
  const post = (url: string, init: RequestInit = {}) =>
    send(url, { method: "POST", redirect: "manual", body: "{}", ...init });

  test("a request arrives as it was given, and so does its answer", async () => {
    const url = await serve((request, response) => {
      request.setEncoding("utf8").on("data", (body) => {
        const { "x-a": a, "content-length": length } = request.headers;
        response.writeHead(201, "Made", [
          ["x-b", "1"],
          ["x-b", "2"],
          ["set-cookie", "a=1"],
          ["set-cookie", "b=2"],
        ]);
        response.end(JSON.stringify([request.method, request.url, a, length, body]));
      });
    });
    const response = await post(`${url}/v1?q=%20`, { headers: { "X-A": "é".normalize("NFC") }, body: '{"a":"ü€😀"}' });
    expect([response.status, response.statusText, response.ok]).toEqual([201, "Made", true]);
    expect([response.headers.get("x-b"), response.headers.getSetCookie()]).toEqual(["1, 2", ["a=1", "b=2"]]);
    expect(await response.json()).toEqual(["POST", "/v1?q=%20", "é", "17", '{"a":"ü€😀"}']);
  });

  test("headers may be a Headers object, and a list", async () => {
    const url = await serve((request, response) => void response.end(request.headers["x-a"]));
    expect(await (await post(url, { headers: new Headers({ "x-a": "b" }) })).text()).toBe("b");
    expect(await (await post(url, { headers: [["x-a", "c"]] })).text()).toBe("c");
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("an answer that is packed with %s is unpacked", async (encoding, pack) => {
    const url = await serve((_, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(pack(Buffer.from("text ".repeat(1000))));
    });
    expect(await (await post(url)).text()).toBe("text ".repeat(1000));
  });

  test.each([
    ["gzip without its trailer", "gzip", gzipSync("text").subarray(0, -8)],
    ["one packing around another", "deflate, gzip", gzipSync(deflateSync("text"))],
  ])("what is packed as %s is unpacked", async (_, encoding, packed) => {
    const url = await serve(
      (_, response) => void response.writeHead(200, { "content-encoding": encoding }).end(packed),
    );
    expect(await (await post(url)).text()).toBe("text");
  });

  test("a packed answer of nothing keeps its status", async () => {
    const url = await serve((_, response) => void response.writeHead(429, { "content-encoding": "gzip" }).end());
    const response = await post(url);
    expect([response.status, await response.text()]).toEqual([429, ""]);
  });

  test("white space around a header's value is not sent", async () => {
    const url = await serve((request, response) => void response.end(request.headers["x-a"]));
    expect(await (await post(url, { headers: { "x-a": " b\n" } })).text()).toBe("b");
  });

  test("an answer that would go over to another protocol is a failure, and so is silence that is given up", async () => {
    const upgrade = "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n";
    const server = createSocketServer((socket) => void socket.on("error", () => undefined).write(upgrade));
    await expect(post(await listen(server))).rejects.toMatchObject({ message: "fetch failed" });
  });

  test("an answer that comes before the whole request was sent is the answer, however the connection ends", async () => {
    const url = await serve((request, response) => {
      response.writeHead(401).end("no");
      setTimeout(() => request.socket.destroySoon(), 5);
    });
    for (let count = 0; count < 5; count++) {
      const answer = await post(url, { body: "x".repeat(20_000_000) }).then(
        async (response) => `${response.status} ${await response.text()}`,
        ({ message }) => message,
      );
      expect(["401 no", "fetch failed"]).toContain(answer);
    }
    // What the connections still have to say would be an uncaught error here.
    await new Promise((resolve) => setTimeout(resolve, 50));
  });

  test("the connection of an answer without a body is used again", async () => {
    let connections = 0;
    const server = createServer((_, response) => void response.writeHead(204).end()).on(
      "connection",
      () => connections++,
    );
    const url = await listen(server);
    for (let count = 0; count < 3; count++) {
      await post(url);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(connections).toBe(1);
  });

  test.each([204, 304])("an answer with %d has no body", async (status) => {
    const url = await serve((_, response) => void response.writeHead(status).end());
    const response = await post(url);
    expect([response.status, response.body]).toEqual([status, null]);
  });

  test("a redirection is answered, not followed", async () => {
    const url = await serve((_, response) => void response.writeHead(307, { location: "http://other.test/" }).end());
    const response = await post(url);
    expect([response.status, response.headers.get("location")]).toEqual([307, "http://other.test/"]);
  });

  test("the body streams", async () => {
    let go: () => void = () => undefined;
    const url = await serve((_, response) => {
      response.write("first");
      go = () => void response.end("second");
    });
    const reader = (await post(url)).body?.getReader();
    expect(`${Buffer.from((await reader?.read())?.value ?? [])}`).toBe("first");
    go();
    expect(`${Buffer.from((await reader?.read())?.value ?? [])}`).toBe("second");
    expect((await reader?.read())?.done).toBe(true);
  });

  test("a server that is not there is a failure with the system's code in its cause", async () => {
    const server = createServer();
    const url = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    const error = await post(url).catch((error) => error);
    expect(error).toMatchObject({ name: "TypeError", message: "fetch failed", cause: { code: "ECONNREFUSED" } });
  });

  test("a connection that ends before the answer is a failure, and one inside the body breaks it", async () => {
    const url = await serve((request, response) => {
      if (request.url === "/before") response.destroy();
      else response.write("half", () => response.destroy());
    });
    await expect(post(`${url}/before`)).rejects.toMatchObject({ name: "TypeError", message: "fetch failed" });
    const broken = await post(`${url}/inside`);
    await expect(broken.text()).rejects.toMatchObject({ name: "TypeError", message: "terminated" });
  });

  test("an answer that is no HTTP is a failure", async () => {
    const server = createSocketServer((socket) => void socket.on("error", () => undefined).end("garbage\r\n\r\n"));
    const url = await listen(server);
    await expect(post(url)).rejects.toMatchObject({ name: "TypeError", message: "fetch failed" });
  });

  test("an abort ends the request with its reason: before it, while it waits, and inside the body", async () => {
    let left: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => {
      left = resolve;
    });
    let arrived: () => void = () => undefined;
    const there = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const url = await serve((request, response) => {
      response.on("close", left);
      if (request.url === "/body") response.write("half");
      else arrived();
    });
    const reason = new Error("enough");
    await expect(post(url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);

    const waiting = new AbortController();
    const answer = post(url, { signal: waiting.signal });
    await there;
    waiting.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await gone;

    const reading = new AbortController();
    const reader = (await post(`${url}/body`, { signal: reading.signal })).body?.getReader();
    await reader?.read();
    const rest = reader?.read();
    reading.abort(reason);
    await expect(rest).rejects.toBe(reason);
  });

  test("a body that is given up ends the connection", async () => {
    const gone = new Promise<void>((resolve) => {
      void serve((_, response) => void response.on("close", resolve).write("half")).then(async (url) => {
        await (await post(url)).body?.cancel();
      });
    });
    await gone;
  });

  test("the sender waits for a reader who does not read", async () => {
    let sent = 0;
    const full = new Promise<void>((resolve) => {
      void serve((_, response) => {
        const piece = Buffer.alloc(1024 * 1024);
        for (; sent < 64 && response.write(piece); sent++);
        setImmediate(resolve);
      }).then(post);
    });
    await full;
    expect(sent).toBeLessThan(64);
  });

  test("one connection serves one request after the other", async () => {
    let connections = 0;
    const server = createServer((_, response) => void response.end("done")).on("connection", () => connections++);
    const url = await listen(server);
    for (let count = 0; count < 3; count++) {
      await (await post(url)).text();
      await new Promise(setImmediate);
    }
    expect(connections).toBe(1);
  });
});

test("a signal that outlives its requests holds nothing of them", async () => {
  const url = await serve((_, response) => void response.end("done"));
  const { signal } = new AbortController();
  for (let count = 0; count < 3; count++) {
    await (await directFetch(url, { method: "POST", redirect: "manual", body: "", signal })).text();
  }
  await new Promise(setImmediate);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("what lies ready is read at once", async () => {
  const url = await serve((_, response) => {
    response.write("one");
    response.write("two");
    response.end("three");
  });
  const response = await directFetch(url, { method: "POST", redirect: "manual", body: "" });
  const reader = response.body?.getReader();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(`${Buffer.from((await reader?.read())?.value ?? [])}`).toBe("onetwothree");
});

test("packing is not asked for, and nothing is sent that was not given but what HTTP needs", async () => {
  const url = await serve((request, response) => void response.end(JSON.stringify(request.headers)));
  const response = await directFetch(url, { method: "POST", redirect: "manual", body: "{}", headers: { "x-a": "b" } });
  expect(await response.json()).toEqual({
    host: new URL(url).host,
    "x-a": "b",
    accept: "*/*",
    "accept-encoding": "identity",
    "content-length": "2",
    connection: "keep-alive",
  });
});

test("a name of a status that no answer can have is shown without what cannot be", async () => {
  const answer = "HTTP/1.1 200 O\x01K\r\ncontent-length: 0\r\n\r\n";
  const server = createSocketServer((socket) => void socket.on("error", () => undefined).end(answer));
  const response = await directFetch(await listen(server), { method: "POST", redirect: "manual", body: "" });
  expect([response.status, response.statusText]).toEqual([200, "OK"]);
});

test("a connection that does not stand within ten seconds is given up", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    // A socket that goes nowhere: the name is never looked up.
    const lookup = vi.spyOn(dns, "lookup").mockImplementation((() => undefined) as never);
    const answer = directFetch("http://nowhere.test/", { method: "POST", redirect: "manual", body: "" });
    answer.catch(() => undefined);
    await vi.waitFor(() => expect(lookup).toHaveBeenCalled());
    await vi.advanceTimersByTimeAsync(9_999);
    await vi.advanceTimersByTimeAsync(1);
    await expect(answer).rejects.toMatchObject({
      cause: { code: "ETIMEDOUT", message: expect.stringContaining("10 s") },
    });
  } finally {
    vi.useRealTimers();
  }
});

test("a status that no answer can have is a failure that names it", async () => {
  const server = createSocketServer(
    (socket) => void socket.on("error", () => undefined).end("HTTP/1.1 999 Odd\r\n\r\n"),
  );
  const url = await listen(server);
  const error = await directFetch(url, { method: "POST", redirect: "manual", body: "" }).catch((error) => error);
  expect(error).toMatchObject({ message: "fetch failed", cause: { message: "the server answers HTTP 999" } });
});

test("any other request is Node's fetch's", async () => {
  const url = await serve((request, response) => {
    if (request.url === "/end") response.end(request.method);
    else response.writeHead(303, { location: "/end" }).end();
  });
  expect(await (await directFetch(url)).text()).toBe("GET");
  expect(await (await directFetch(new Request(url, { method: "POST", body: "text" }))).text()).toBe("GET");
  const withPassword = url.replace("//", "//me:secret@");
  const refused = directFetch(withPassword, { method: "POST", redirect: "manual", body: "" });
  await expect(refused).rejects.toThrow("credentials");
});

test("https is spoken, and a certificate that nobody vouches for is refused", async () => {
  const url = await listen(
    createSecureServer({ cert: TEST_CERTIFICATE, key: TEST_KEY }, (_, response) => void response.end("secret")),
    "https://localhost",
  );
  const certificate = join(mkdtempSync(join(tmpdir(), "rookery-certificate-")), "certificate.pem");
  writeFileSync(certificate, TEST_CERTIFICATE);
  const script = `
    const { directFetch } = await import(${JSON.stringify(new URL("./direct-fetch.ts", import.meta.url).href)});
    const headers = { host: "model.test" };
    const answer = directFetch(process.env.URL, { method: "POST", redirect: "manual", body: "{}", headers });
    process.stdout.write(await answer.then((response) => response.text(), (error) => error.cause.code));`;
  expect(await runTypeScript(script, { URL: url, NODE_EXTRA_CA_CERTS: certificate })).toBe("secret");
  expect(await runTypeScript(script, { URL: url })).toMatch(/CERT|SELF_SIGNED/);
});

function serve(listener: RequestListener): Promise<string> {
  return listen(createServer(listener));
}

async function listen(server: Server | ReturnType<typeof createSocketServer>, origin = "http://127.0.0.1") {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  });
  return `${origin}:${(server.address() as AddressInfo).port}`;
}
