import type { LookupFunction, Socket } from "node:net";
import { Agent, buildConnector, type Dispatcher, Request as PackageRequest, Pool, fetch as packageFetch } from "undici";
import { RookeryError } from "../../errors/rookery-error.ts";
import type { ProxyServer } from "./proxy-for.ts";

/**
 * A `fetch` that asks for each request, redirected ones too, which proxy to take; absent: none.
 *
 * The package's own `fetch`: Node's takes dispatchers of its own version only. How long an answer may take is for the
 * caller to say.
 *
 * @param connect - How direct connections are made.
 */
export function fetchThrough(
  proxyOf: (url: URL) => ProxyServer | undefined,
  connect: { readonly lookup?: LookupFunction } = {},
): typeof fetch {
  const opened = new Map<string, Dispatcher["dispatch"]>();
  const dispatcher = new Agent({ ...UNTIMED, connect }).compose((direct) => (options, handler) => {
    const proxy = proxyOf(new URL(String(options.origin)));
    if (!proxy) return direct(options, handler);
    const key = JSON.stringify(proxy);
    const dispatch = opened.get(key) ?? openProxy(proxy);
    opened.set(key, dispatch);
    return dispatch(options, handler);
  });
  const send = async (input: string | URL | Request, init?: RequestInit): Promise<unknown> => {
    // A request made of Node's own class says what it is, but is none of the package's.
    const request = input instanceof Request ? new PackageRequest(input.url, input as object) : input;
    try {
      return await packageFetch(request, { ...(init as object), dispatcher });
    } catch (error) {
      throw error instanceof Error && RookeryError.is(error.cause) ? error.cause : error;
    }
  };
  return send as typeof fetch;
}

const UNTIMED = { headersTimeout: 0, bodyTimeout: 0 };
const TUNNEL_TIMEOUT_MS = 30_000;

/** The way through one proxy: https inside a tunnel, http as a request to the proxy itself. */
function openProxy(proxy: ProxyServer): Dispatcher["dispatch"] {
  const forwarding = new Pool(proxy.origin, { ...UNTIMED, connect: connectorTo(proxy) });
  const tunnelling = new Agent({ ...UNTIMED, connect: tunnelThrough(proxy) });
  return (options, handler) => {
    const { protocol, host, origin } = new URL(String(options.origin));
    if (protocol === "https:") return tunnelling.dispatch(options, handler);
    const headers = { host, ...(options.headers as Record<string, string>), ...authorizationOf(proxy) };
    const forwarded = { ...options, path: `${origin}${options.path}`, headers };
    return forwarding.dispatch(forwarded, unlessRefused(handler, proxy, host));
  };
}

/** A handler that gets every answer but the one with which a proxy asks for a password: `fetch` would not say what it was. */
function unlessRefused(
  handler: Dispatcher.DispatchHandlers,
  proxy: ProxyServer,
  target: string,
): Dispatcher.DispatchHandlers {
  const onHeaders: Dispatcher.DispatchHandlers["onHeaders"] = function (this: typeof handler, status, ...rest) {
    if (status === 407) throw refusal(proxy, target, status);
    return handler.onHeaders?.call(this, status, ...rest) ?? true;
  };
  return Object.create(handler, { onHeaders: { value: onHeaders } });
}

/** Connects to the proxy itself. */
function connectorTo(proxy: ProxyServer): buildConnector.connector {
  const connect = buildConnector({});
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) callback(noWayThrough(proxy, error), null);
      else callback(null, socket);
    });
}

function tunnelThrough(proxy: ProxyServer): buildConnector.connector {
  const asking = new Pool(proxy.origin, { headersTimeout: TUNNEL_TIMEOUT_MS });
  const secure = buildConnector({});
  return (options, callback) => {
    const target = options.port ? (options.host ?? "") : `${options.host}:443`;
    asking.connect({ path: target, headers: { host: target, ...authorizationOf(proxy) } }).then(
      ({ socket, statusCode }) => {
        if (statusCode >= 200 && statusCode < 300)
          return secure({ ...options, httpSocket: socket as Socket }, callback);
        socket.on("error", () => undefined).destroy();
        callback(refusal(proxy, target, statusCode), null);
      },
      (error) => callback(noWayThrough(proxy, error), null),
    );
  };
}

function authorizationOf({ authorization }: ProxyServer): Record<string, string> {
  return authorization === undefined ? {} : { "proxy-authorization": authorization };
}

/** Tells a failure on the way to the proxy from one on the way to the server. */
function noWayThrough({ variable }: ProxyServer, cause: unknown): Error {
  return new Error(`no connection through the proxy in ${variable}`, { cause });
}

/** What a proxy's own answer means: one that stands whatever is tried, or one that passes. */
function refusal({ variable }: ProxyServer, target: string, status: number): Error {
  if (status === 407) {
    return new RookeryError("config-invalid", `the proxy in ${variable} asks for a user name and password (HTTP 407)`, {
      hint: "put the right ones into the variable, in front of the host: USER:PASSWORD@HOST:PORT",
    });
  }
  const message = `the proxy in ${variable} gave no connection to ${target} (HTTP ${status})`;
  if (status >= 500 || status === 408 || status === 429) return new Error(message);
  return new RookeryError("config-invalid", message, {
    hint: "have the host allowed there, or name it in NO_PROXY if it can be reached directly",
  });
}
