import { readProviderFailure } from "../provider-failure.ts";
import { looksLikeCredential, redactSecrets, secretsOf } from "../redact-secrets.ts";
import type { DebugLog } from "./debug-log.ts";
import { PiecewiseRedaction } from "./piecewise-redaction.ts";

/**
 * The same `fetch`, with every request and what comes of it written to a log, bodies as they pass. Credentials are taken
 * out: the values of headers that carry one, wherever else they appear too. Docs/configuration.md names the records.
 *
 * @param secrets - More to take out, which no request shows: a proxy's password.
 */
export function debugFetch(send: typeof fetch, log: DebugLog, secrets: readonly string[] = []): typeof fetch {
  let requests = 0;
  return async (input, init) => {
    const exchange = new Exchange(log, `${process.pid}-${++requests}`, secrets, input, init);
    try {
      return exchange.answered(await send(input, init));
    } catch (error) {
      exchange.failed(error);
      throw error;
    }
  };
}

/** One request and its answer. */
class Exchange {
  readonly #log: DebugLog;
  readonly #request: string;
  readonly #secrets: readonly string[];
  readonly #startedAt = performance.now();
  readonly #release: () => void;

  constructor(
    log: DebugLog,
    request: string,
    secrets: readonly string[],
    input: string | URL | Request,
    init: RequestInit = {},
  ) {
    this.#log = log;
    this.#release = log.hold();
    this.#request = request;
    const asked = input instanceof Request ? input : undefined;
    const url = asked?.url ?? String(input);
    const headers = new Headers(init.headers ?? asked?.headers);
    this.#secrets = [...secrets, ...secretsOf(Object.fromEntries(headers), url)];
    this.#write("request", {
      method: init.method ?? asked?.method ?? "GET",
      url: this.#redacted(url),
      headers: this.#shown(headers),
    });
    if (typeof init.body === "string") this.#writeBody(init.body);
  }

  /** The answer, its body written while it is read. */
  answered(response: Response): Response {
    const { status, statusText, headers, body } = response;
    this.#write("response", { status, status_text: this.#redacted(statusText), headers: this.#shown(headers) });
    if (!body) {
      this.#finish("end", { bytes: 0 });
      return response;
    }
    const copy = new Response(this.#watched(body), { headers });
    for (const name of ["status", "statusText", "ok", "url", "redirected", "type"] as const) {
      Object.defineProperty(copy, name, { value: response[name] });
    }
    return copy;
  }

  failed(error: unknown): void {
    const aborted = error instanceof Error && error.name === "AbortError";
    this.#finish(aborted ? "aborted" : "error", { message: this.#redacted(readProviderFailure(error).words) });
  }

  #watched(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const redaction = new PiecewiseRedaction(this.#secrets);
    let bytes = 0;
    let isCancelled = false;
    const text = (text: string): void => {
      if (text !== "") this.#write("response_body", { text });
    };
    const ended = (): void => text(redaction.push(decoder.decode()) + redaction.end());
    return new ReadableStream(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await reader.read();
            if (isCancelled) return;
            if (done) {
              controller.close();
              ended();
              this.#finish("end", { bytes });
            } else {
              controller.enqueue(value);
              bytes += value.length;
              text(redaction.push(decoder.decode(value, { stream: true })));
            }
          } catch (error) {
            controller.error(error);
            ended();
            this.failed(error);
          }
        },
        cancel: (reason) => {
          isCancelled = true;
          ended();
          this.#finish("aborted", { bytes, message: "the answer was not read to its end" });
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
  }

  #writeBody(body: string): void {
    const redaction = new PiecewiseRedaction(this.#secrets);
    for (let at = 0; at < body.length; at += PIECE_CHARACTERS) {
      const text = redaction.push(body.slice(at, at + PIECE_CHARACTERS));
      if (text !== "") this.#write("request_body", { text });
    }
    const rest = redaction.end();
    if (rest !== "") this.#write("request_body", { text: rest });
  }

  #shown(headers: Headers): Record<string, string> {
    const shown = ([name, value]: [string, string]): [string, string] => [
      name,
      looksLikeCredential(name) ? "[redacted]" : this.#redacted(value),
    ];
    return Object.fromEntries([...headers].map(shown));
  }

  /** The last record. */
  #finish(event: string, fields: Readonly<Record<string, unknown>>): void {
    this.#write(event, fields);
    this.#release();
  }

  #redacted(text: string): string {
    return redactSecrets(text, this.#secrets);
  }

  #write(event: string, fields: Readonly<Record<string, unknown>>): void {
    const elapsed_ms = Math.round(performance.now() - this.#startedAt);
    this.#log.write({ request: this.#request, event, elapsed_ms, ...fields });
  }
}

const PIECE_CHARACTERS = 65_536;
