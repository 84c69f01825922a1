/** What was found wrong with a request, or lost in it. */
interface StrictRecord {
  readonly rule: string;
  readonly message: string;
}

/** A request as the server saw it. */
interface StrictRequest {
  // biome-ignore lint/suspicious/noExplicitAny: tests read the body of a request as it came over the wire.
  readonly body: any;
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  /** The client left before the answer was whole; known once the connection is closed. */
  readonly clientGone?: boolean;
}

/** A scripted provider that refuses what the services refuse; see `test/strict-provider/strict-server.mjs`. */
export interface StrictServer {
  readonly url: string;
  readonly log: readonly StrictRequest[];
  /** Requests a service would have refused. */
  readonly violations: readonly StrictRecord[];
  /** Requests in which something was lost. */
  readonly warnings: readonly StrictRecord[];
  /** Errors of the server itself. */
  readonly internal: readonly unknown[];
  close(): Promise<void>;
}

export interface StrictOptions {
  readonly scripts: unknown;
  readonly refuse?: boolean;
  readonly apiKeys?: readonly string[];
  readonly models?: Readonly<Record<string, unknown>>;
}

/** Starts the server on a free port of the loopback. */
export async function startStrictServer(options: StrictOptions): Promise<StrictServer> {
  const address = new URL("../strict-provider/strict-server.mjs", import.meta.url).href;
  const module: { startStrictServer(options: StrictOptions): Promise<StrictServer> } = await import(address);
  return module.startStrictServer(options);
}
