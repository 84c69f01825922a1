import type { ClientRequest, IncomingMessage } from "node:http";
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
    const fail = (cause: unknown): void => reject(failure("fetch failed", cause, signal));
    const abort = (): void => void sent.destroy();
    signal?.addEventListener("abort", abort);
    sent.once("close", () => {
      signal?.removeEventListener("abort", abort);
      fail(new Error("the connection was closed before the answer"));
    });
    sent.on("response", resolve);
    sent.on("error", fail);
    watchConnection(sent, url);
    if (signal?.aborted) abort();
    else sent.end(body);
  });
  return await responseOf(message, signal);
}

/** What a stream of events would be packed in comes late, and small answers are not worth it. */
const EVERY_REQUEST = { accept: "*/*", "accept-encoding": "identity" };

function watchConnection(sent: ClientRequest, { protocol, host }: URL): void {
  sent.on("socket", (socket) => {
    if (!socket.connecting) return;
    // Behind an answer that came before the whole request was sent, nobody else hears of it.
    socket.on("error", () => undefined);
    const impatience = setTimeout(() => sent.destroy(new ConnectTimeout(host)), CONNECT_MS);
    socket.once(protocol === "https:" ? "secureConnect" : "connect", () => clearTimeout(impatience));
    sent.once("close", () => clearTimeout(impatience));
  });
}

const CONNECT_MS = 10_000;

class ConnectTimeout extends Error {
  readonly code = "ETIMEDOUT";

  constructor(host: string) {
    super(`no connection to ${host} within ${CONNECT_MS / 1000} s`);
  }
}

async function responseOf(message: IncomingMessage, signal: Post["signal"]): Promise<Response> {
  const { statusCode: status = 0, statusMessage = "" } = message;
  // It may break off before there is a reader, who finds it broken then.
  message.on("error", () => undefined);
  if (status < 200 || status > 599) {
    message.destroy();
    throw failure("fetch failed", new Error(`the server answers HTTP ${status}`), signal);
  }
  const hasBody = !BODILESS.has(status);
  if (!hasBody) message.resume();
  return new Response(hasBody ? bytesOf(await unpacked(message), signal) : null, {
    status,
    // What else there may be is no text of a Response.
    statusText: statusMessage.replace(/[^\t\x20-\x7e\x80-\xff]/g, ""),
    headers: headersOf(message),
  });
}

const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** What `fetch` rejects with. */
function failure(what: string, cause: unknown, signal: Post["signal"]): unknown {
  return signal?.aborted ? signal.reason : new TypeError(what, { cause });
}

/** The headers as they are sent: without white space around their values. */
function plain(headers: RequestInit["headers"]): Readonly<Record<string, string>> {
  const entries = isRecord(headers) ? Object.entries(headers) : [...new Headers(headers)];
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value).trim()]));
}

function isRecord(headers: RequestInit["headers"]): headers is Record<string, string> {
  return headers !== undefined && Object.getPrototypeOf(headers) === Object.prototype;
}

function headersOf({ rawHeaders }: IncomingMessage): [string, string][] {
  const headers: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.push([rawHeaders[at] ?? "", rawHeaders[at + 1] ?? ""]);
  return headers;
}

/** Some servers pack their answers without being asked. What is packed and not closed is as good as what is. */
async function unpacked(message: IncomingMessage): Promise<Readable> {
  const encodings = (message.headers["content-encoding"] ?? "").toLowerCase().split(/\s*,\s*/);
  if (encodings.every((encoding) => encoding === "" || encoding === "identity")) return message;
  const { constants, createBrotliDecompress, createUnzip } = await import("node:zlib");
  const soft = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
  const { BROTLI_OPERATION_FLUSH: flush } = constants;
  let bytes: Readable = message;
  for (const encoding of encodings.reverse()) {
    const unpacker = /^(x-)?gzip$|^deflate$/.test(encoding)
      ? createUnzip(soft)
      : encoding === "br" && createBrotliDecompress({ flush, finishFlush: flush });
    // Whoever reads the last one hears of errors.
    if (unpacker) bytes = pipeline(bytes, unpacker, () => undefined);
  }
  return bytes;
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
