import { unescape as decodePercent } from "node:querystring";
import { RookeryError } from "../../errors/rookery-error.ts";
import { secretsOf } from "../redact-secrets.ts";
import { isLoopbackHost } from "./loopback.ts";
import { isExempt } from "./no-proxy.ts";

/** A proxy that the environment names. */
export interface ProxyServer {
  /** The variable it was found in. */
  readonly variable: string;
  /** Where it listens, without user name and password. */
  readonly origin: string;
  /** The value of `Proxy-Authorization`. */
  readonly authorization?: string;
}

/** Whether the environment names any proxy. */
export function namesProxy(env: NodeJS.ProcessEnv): boolean {
  return Object.values(PROXY_VARIABLES).some((name) => setting(name, env) !== undefined);
}

/**
 * The proxy through which an address is reached: `HTTPS_PROXY` for https, `HTTP_PROXY` for http; of a variable in both
 * cases of letters the one in lower case is taken. Absent for this machine, for what `NO_PROXY` names, and without any.
 *
 * @throws {RookeryError} `config-invalid` when the variable holds no address of an http or https proxy.
 */
export function proxyFor(url: URL, env: NodeJS.ProcessEnv): ProxyServer | undefined {
  const name = PROXY_VARIABLES[url.protocol];
  const found = name === undefined ? undefined : setting(name, env);
  if (!found || isLoopbackHost(url.hostname)) return undefined;
  if (isExempt(url, setting("no_proxy", env)?.value ?? "")) return undefined;
  return readProxy(found);
}

/** What lets in at the proxies that the environment names, as it may come back in what they say. */
export function proxySecrets(env: NodeJS.ProcessEnv): string[] {
  return Object.values(PROXY_VARIABLES).flatMap((name) => {
    const url = parseAddress(setting(name, env)?.value ?? "");
    const authorization = url && authorizationOf(url);
    return authorization === undefined ? [] : secretsOf({ authorization });
  });
}

const PROXY_VARIABLES: Readonly<Record<string, string>> = { "https:": "https_proxy", "http:": "http_proxy" };

interface Setting {
  readonly variable: string;
  readonly value: string;
}

/** An empty variable counts as one that is not set. */
function setting(lowerCaseName: string, env: NodeJS.ProcessEnv): Setting | undefined {
  for (const variable of [lowerCaseName, lowerCaseName.toUpperCase()]) {
    const value = env[variable]?.trim();
    if (value) return { variable, value };
  }
  return undefined;
}

function readProxy({ variable, value }: Setting): ProxyServer {
  const url = parseAddress(value);
  if (!url || !/^https?:$/.test(url.protocol)) {
    const shown = JSON.stringify(value.replace(/^([a-z][a-z\d+.-]*:\/\/)?.*@/is, "$1[redacted]@"));
    throw new RookeryError(
      "config-invalid",
      `${variable} must be the address of an http or https proxy, got ${shown}`,
      {
        hint: "write it like http://proxy.example:3128, unset it, or name the host in NO_PROXY",
      },
    );
  }
  const authorization = authorizationOf(url);
  return { variable, origin: url.origin, ...(authorization !== undefined && { authorization }) };
}

/** An address without a scheme is that of an http proxy. */
function parseAddress(value: string): URL | undefined {
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  return URL.canParse(address) ? new URL(address) : undefined;
}

function authorizationOf({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  const pair = `${decodePercent(username)}:${decodePercent(password)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}
