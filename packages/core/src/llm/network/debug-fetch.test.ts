import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { debugFetch } from "./debug-fetch.ts";

// biome-ignore lint/suspicious/noExplicitAny: records are read as the JSON they become.
type Records = any[];

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

test("a request and its answer are written in order, with the body as it streams", async () => {
  const url = await serve((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream", "x-ratelimit-remaining-tokens": "9" });
      response.end("data: one\n\ndata: two\n\nrest");
    });
  });
  const { send, records } = logged();
  const response = await send(`${url}/v1/chat?version=1`, { method: "POST", body: '{"a":1}', headers: { "X-A": "b" } });
  expect(await response.text()).toBe("data: one\n\ndata: two\n\nrest");
  const common = { request: `${process.pid}-1`, elapsed_ms: expect.any(Number) };
  expect(records).toEqual([
    { ...common, event: "request", method: "POST", url: `${url}/v1/chat?version=1`, headers: { "x-a": "b" } },
    { ...common, event: "request_body", text: '{"a":1}' },
    {
      ...common,
      event: "response",
      status: 200,
      status_text: "OK",
      headers: expect.objectContaining({ "content-type": "text/event-stream", "x-ratelimit-remaining-tokens": "9" }),
    },
    { ...common, event: "response_body", text: "data: one\n\ndata: two\n\n" },
    { ...common, event: "response_body", text: "rest" },
    { ...common, event: "end", bytes: 26 },
  ]);
});

test("each request has a number of its own", async () => {
  const url = await serve((_, response) => response.writeHead(204).end());
  const { send, records } = logged();
  await Promise.all([send(url), send(url)]);
  const begun = records.filter(({ event }) => event === "request").map(({ request }) => request);
  expect(begun).toEqual([`${process.pid}-1`, `${process.pid}-2`]);
});

const KEY = "sk-canary-1234567890";

test.each([
  ["authorization", `Bearer ${KEY}`],
  ["x-api-key", KEY],
  ["x-goog-api-key", KEY],
  ["api-key", KEY],
  ["cookie", `session=${KEY}`],
  ["x-corp-token", KEY],
])("the value of %s shows nowhere: not in headers, bodies, the answer or the address", async (name, value) => {
  const url = await serve((request, response) => {
    request.resume().on("end", async () => {
      response.writeHead(200, { "set-cookie": `id=${KEY}`, "x-echo": value });
      for (const character of `you sent ${value}, and ${KEY}`) {
        response.write(character);
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
  });
  const { send, records } = logged();
  const options = { method: "POST", body: JSON.stringify({ text: `my key is ${value}` }), headers: { [name]: value } };
  const response = await send(`${url}/?q=${KEY}`, options);
  expect(await response.text()).toContain(value);
  const written = JSON.stringify(records);
  expect(written).not.toContain(KEY);
  expect(records[0].headers).toEqual({ [name]: "[redacted]" });
  expect(records.find(({ event }) => event === "response").headers["set-cookie"]).toBe("[redacted]");
});

test.each(["\\u002b", "\\u002B", "%2b"])(
  "a key with a sign that the answer writes as %s is taken out",
  async (sign) => {
    const key = "sk-a+b+canary";
    const url = await serve((_, response) => response.end(`{"you sent":"${key.replaceAll("+", sign)}"}`));
    const { send, records } = logged();
    await (await send(url, { headers: { authorization: `Bearer ${key}` } })).text();
    expect(records.find(({ event }) => event === "response_body").text).toBe('{"you sent":"[redacted]"}');
  },
);

test("a key in the words beside the status is taken out", async () => {
  const url = await serve((_, response) => response.writeHead(400, `no ${KEY}`).end());
  const { send, records } = logged();
  await send(url, { headers: { authorization: `Bearer ${KEY}` } });
  expect(records.find(({ event }) => event === "response").status_text).toBe("no [redacted]");
});

test("a key in the address is taken out, of the answer too", async () => {
  const url = await serve((request, response) => response.end(request.url));
  const { send, records } = logged();
  expect(await (await send(`${url}/?key=${KEY}&alt=sse`)).text()).toBe(`/?key=${KEY}&alt=sse`);
  expect(records[0].url).toBe(`${url}/?key=[redacted]&alt=sse`);
  expect(JSON.stringify(records)).not.toContain(KEY);
});

test("the answer is the one that came: status, headers, address, and bytes that are no text", async () => {
  const bytes = new Uint8Array([0xff, 0x00, 0xe2, 0x82]);
  const url = await serve((_, response) => response.writeHead(418, "Teapot", { "x-a": "b" }).end(bytes));
  const { send } = logged();
  const response = await send(`${url}/x`);
  expect(response).toMatchObject({ status: 418, statusText: "Teapot", ok: false, url: `${url}/x`, redirected: false });
  expect(response.headers.get("x-a")).toBe("b");
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
});

test("a piece is handed on before the next has come", async () => {
  let more: () => void = () => undefined;
  const url = await serve((_, response) => {
    response.write("first\n");
    more = () => response.end("second");
  });
  const { send, records } = logged();
  const reader = (await send(url)).body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("first\n");
  expect(records.at(-1)).toMatchObject({ event: "response_body", text: "first\n" });
  more();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("second");
});

test("an answer that is left before its end says so, with what of it came, and ends at the server", async () => {
  let left: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    left = resolve;
  });
  const url = await serve((_, response) => response.on("close", left).write("half a line"));
  const { send, records } = logged();
  const reader = (await send(url)).body?.getReader();
  await reader?.read();
  await reader?.cancel();
  await closed;
  expect(records.slice(-2)).toMatchObject([
    { event: "response_body", text: "half a line" },
    { event: "aborted", bytes: 11, message: "the answer was not read to its end" },
  ]);
});

test("an abort before the answer and one within it are recorded, and reach the caller as they are", async () => {
  const url = await serve((request, response) => {
    if (request.url === "/streams") response.write("some\n");
  });
  for (const path of ["/waits", "/streams"]) {
    const { send, records } = logged();
    const controller = new AbortController();
    const answer = send(url + path, { signal: controller.signal });
    if (path === "/streams") {
      const reader = (await answer).body?.getReader();
      await reader?.read();
      controller.abort();
      await expect(reader?.read()).rejects.toMatchObject({ name: "AbortError" });
    } else {
      controller.abort();
      await expect(answer).rejects.toMatchObject({ name: "AbortError" });
    }
    expect(records.at(-1)).toMatchObject({ event: "aborted" });
  }
});

test("a connection that fails, or breaks off, is recorded with its cause", async () => {
  const url = await serve((request, response) => {
    if (request.url === "/breaks") response.write("some\n", () => response.destroy());
    else response.destroy();
  });
  const { send, records } = logged();
  await expect(send(url)).rejects.toThrow("fetch failed");
  expect(records.at(-1)).toMatchObject({ event: "error", message: expect.stringContaining("other side closed") });
  await expect((await send(`${url}/breaks`)).text()).rejects.toThrow();
  expect(records.at(-1)).toMatchObject({ event: "error", message: expect.stringContaining("terminated") });
});

function logged(): { send: typeof fetch; records: Records } {
  const records: Records = [];
  return {
    records,
    send: debugFetch(fetch, {
      write: (record) => records.push(record),
      hold: () => () => undefined,
      close: () => undefined,
    }),
  };
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
