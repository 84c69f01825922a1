import type { IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";

/**
 * What Node's `fetch` does for a request to a model's server, over Node's own http: a conversation makes many of them, and
 * `fetch` costs twice the time and 15 MB. Taken is a POST of text that follows no redirection; any other request is
 * `fetch`'s.
 *
 * Rejects as `fetch` does: with the signal's reason, else with a `TypeError` whose cause says what happened. A connection
 * has to stand within ten seconds; how long the answer may take is for the caller to say.
 */
export const directFetch: typeof fetch = async (input, init) => {
  const url = typeof input === "string" ? new URL(input) : input;
  const isText = init?.method === "POST" && init.redirect === "manual" && typeof init.body === "string";
  if (!isText || !(url instanceof URL) || !/^https?:$/.test(url.protocol) || url.username || url.password)
    return fetch(input, init);
  return await post(url, { headers: plain(init.headers), body: Buffer.from(String(init.body)), signal: init.signal });
};

interface Post {
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes: behind text, http would write the headers as UTF-8. */
  readonly body: Buffer;
  readonly signal: AbortSignal | null | undefined;
}

async function post(url: URL, { headers, body, signal }: Post): Promise<Response> {
  const { request } = await (url.protocol === "https:" ? import("node:https") : import("node:http"));
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(url, {
      method: "POST",
      headers: { ...EVERY_REQUEST, ...headers, "content-length": body.length },
    });
    const abort = (): void => void sent.destroy();
    signal?.addEventListener("abort", abort);
    sent.once("close", () => signal?.removeEventListener("abort", abort));
    sent.on("response", resolve);
    sent.on("error", (error) => reject(failure("fetch failed", error, signal)));
    sent.on("socket", (socket) => {
      if (!socket.connecting) return;
      const impatience = setTimeout(() => sent.destroy(new ConnectTimeout(url.host)), CONNECT_MS);
      socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => clearTimeout(impatience));
      sent.once("close", () => clearTimeout(impatience));
    });
    if (signal?.aborted) abort();
    else sent.end(body);
  });
  const status = message.statusCode ?? 0;
  if (status < 200 || status > 599) {
    message.destroy();
    throw failure("fetch failed", new Error(`the server answers HTTP ${status}`), signal);
  }
  const bytes = BODILESS.has(status) ? null : bytesOf(await decoded(message), signal);
  if (bytes === null) message.resume();
  return new Response(bytes, { status, statusText: message.statusMessage ?? "", headers: headersOf(message) });
}

/** What a stream of events would be packed in comes late, and small answers are not worth it. */
const EVERY_REQUEST = { accept: "*/*", "accept-encoding": "identity" };
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);
const CONNECT_MS = 10_000;

/** What `fetch` rejects with. */
function failure(what: string, cause: unknown, signal: Post["signal"]): unknown {
  return signal?.aborted ? signal.reason : new TypeError(what, { cause });
}

class ConnectTimeout extends Error {
  readonly code = "ETIMEDOUT";

  constructor(host: string) {
    super(`no connection to ${host} within ${CONNECT_MS / 1000} s`);
  }
}

function plain(headers: RequestInit["headers"]): Readonly<Record<string, string>> {
  return isRecord(headers) ? headers : Object.fromEntries(new Headers(headers));
}

function isRecord(headers: RequestInit["headers"]): headers is Record<string, string> {
  return headers !== undefined && Object.getPrototypeOf(headers) === Object.prototype;
}

function headersOf({ rawHeaders }: IncomingMessage): [string, string][] {
  const headers: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.push([rawHeaders[at] ?? "", rawHeaders[at + 1] ?? ""]);
  return headers;
}

/** Some servers pack their answers without being asked. */
async function decoded(message: IncomingMessage): Promise<Readable> {
  const encoding = message.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity") return message;
  const { createBrotliDecompress, createGunzip, createInflate } = await import("node:zlib");
  const decoders = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress };
  const decoder = Object.entries(decoders).find(([name]) => name === encoding)?.[1];
  // The reader of the decoder hears of errors.
  return decoder ? pipeline(message, decoder(), () => undefined) : message;
}

/** The bytes as they come, all that are there at once; what nobody has asked for waits at the sender. */
function bytesOf(from: Readable, signal: Post["signal"]): ReadableStream<Uint8Array> {
  let waiting = (): void => undefined;
  let isCancelled = false;
  return new ReadableStream(
    {
      start(controller) {
        from.on("readable", () => waiting());
        from.on("end", () => {
          if (!isCancelled) controller.close();
        });
        from.on("error", (error) => {
          if (!isCancelled) controller.error(failure("terminated", error, signal));
        });
      },
      pull: (controller) =>
        new Promise((resolve) => {
          waiting = () => {
            const bytes: Buffer | null = from.read();
            if (bytes === null) return;
            waiting = () => undefined;
            controller.enqueue(bytes);
            resolve();
          };
          waiting();
        }),
      cancel() {
        isCancelled = true;
        from.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
