import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { errorText } from "../../errors/error-text.ts";
import { ReplyMemory } from "./check-history.ts";
import { deliver } from "./delivery.ts";
import type { HttpErrorFault, ProviderErrorKind, ProviderFault } from "./faults.ts";
import { expectedPieces, planReply } from "./plan-reply.ts";
import type { ProviderReply } from "./script.ts";
import type { NewId, RawRequest, WireFailure, WireProtocol } from "./wire-protocol.ts";

/** A request as the server got it. */
export interface ProviderRequest<ClientType extends string = string> {
  readonly clientType: ClientType;
  readonly model: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read the body of a request as it came over the wire.
  readonly body: any;
  /** Without keys. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** The client left before the answer was whole; known once the connection is closed. */
  readonly aborted: boolean;
}

/** The server's side of one protocol. */
export class ProtocolAnswerer<ClientType extends string> {
  readonly #clientType: ClientType;
  readonly #protocol: WireProtocol;
  readonly #memory = new ReplyMemory();
  readonly #shared: SharedState<ClientType>;

  constructor(clientType: ClientType, protocol: WireProtocol, shared: SharedState<ClientType>) {
    this.#clientType = clientType;
    this.#protocol = protocol;
    this.#shared = shared;
  }

  /** Answers one request; resolves when the server has done its part, and never rejects. */
  async answer(raw: RawRequest, headers: IncomingHttpHeaders, response: ServerResponse): Promise<void> {
    try {
      await this.#play(raw, headers, response);
    } catch (error) {
      this.refuse(response, errorText(error));
    }
  }

  /** The protocol's own answer to a request that is wrong. */
  refuse(response: ServerResponse, message: string): void {
    send(response, this.#failure("invalid-request", "", message));
  }

  async #play(raw: RawRequest, headers: IncomingHttpHeaders, response: ServerResponse): Promise<void> {
    if (!this.#protocol.wantsStream(raw)) return this.refuse(response, "this server streams; ask for a stream");
    const { requests, problems, newId } = this.#shared;
    const model = this.#protocol.modelOf(raw);
    const request = {
      clientType: this.#clientType,
      model,
      body: raw.body,
      headers: withoutKeys(headers),
      aborted: false,
    };
    let fault: ProviderFault | undefined;
    response.once("close", () => {
      request.aborted = !response.writableFinished && fault?.kind !== "reset" && !this.#shared.closed;
    });
    const place = `request ${requests.push(request)} (${this.#clientType})`;
    const turns = this.#protocol.readTurns(raw.body);
    problems.push(...this.#memory.problems(turns).map((problem) => `${place}: ${problem}`));

    const reply = await this.#shared.next(request).catch((error: unknown) => {
      problems.push(`${place}: ${errorText(error)}`);
      throw error;
    });
    fault = reply.fault;
    if (fault?.kind === "http-error") return send(response, this.#failure(fault.error, model, fault.message), fault);
    const plan = planReply(reply, this.#protocol, raw, newId);
    this.#memory.keep(expectedPieces(plan, fault), turns);
    const errorEvent =
      fault?.kind === "error-event"
        ? this.#protocol.errorEvent(this.#failure(fault.error, model, fault.message))
        : undefined;
    await deliver(response, this.#protocol.write(plan), fault, errorEvent);
  }

  #failure(error: ProviderErrorKind, model: string, message: string | undefined): WireFailure {
    return this.#protocol.failure(error, model, message);
  }
}

/** What the protocols of one server have in common. */
export interface SharedState<ClientType extends string> {
  readonly requests: ProviderRequest<ClientType>[];
  readonly problems: string[];
  readonly newId: NewId;
  /** The reply to a request; rejects where the script has none. */
  readonly next: (request: ProviderRequest<ClientType>) => Promise<ProviderReply>;
  /** The server has been closed: whoever is still there did not leave. */
  closed: boolean;
}

function send(response: ServerResponse, { status, body }: WireFailure, fault?: HttpErrorFault): void {
  const text = JSON.stringify(body);
  const { retryAfter } = fault ?? {};
  const later = retryAfter === undefined ? {} : { "retry-after": retryAfterText(retryAfter) };
  if (response.headersSent) response.end();
  else if (status === 200) response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${text}\n\n`);
  else response.writeHead(status, { "content-type": "application/json", ...later }).end(text);
}

function retryAfterText(retryAfter: number | Date): string {
  return typeof retryAfter === "number" ? String(retryAfter) : retryAfter.toUTCString();
}

function withoutKeys(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET.test(name) ? "[redacted]" : value]),
  );
}

const SECRET = /authorization|api-?key|token|cookie/;
