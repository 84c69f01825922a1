import type { FinishReason, TokenCounts } from "../../omnimessage/message.ts";
import type { ProviderErrorKind } from "./faults.ts";
import { type Piece, type Turn, textOf } from "./pieces.ts";
import type { ProviderPart } from "./script.ts";

/** What the server knows of one wire protocol. */
export interface WireProtocol {
  /** What follows the server's address in the base address that the vendor's own SDK takes. */
  readonly basePath: string;
  /** The end of the path that requests are sent to. */
  readonly endpoint: RegExp;
  /** Whether replies can hold images. */
  readonly images: boolean;
  /** The model that a request names; empty when it names none. */
  modelOf(request: RawRequest): string;
  /** Whether the answer is wanted as a stream. */
  wantsStream(request: RawRequest): boolean;
  /** The parts with the ids and the fidelity that the protocol gives out with them. */
  seal(parts: readonly ProviderPart[], newId: NewId): Piece[];
  write(plan: ReplyPlan): WireReply;
  failure(error: ProviderErrorKind, model: string, message: string | undefined): WireFailure;
  /** An error inside a stream. */
  errorEvent(failure: WireFailure): WireEvent;
  /** The conversation in a request's body, without its system prompt. */
  readTurns(body: RawRequest["body"]): Turn[];
}

/** What most protocols say in the body, and not in the path. */
export const SAID_IN_BODY: Pick<WireProtocol, "modelOf" | "wantsStream"> = {
  modelOf: ({ body }) => textOf(body.model),
  wantsStream: ({ body }) => body.stream === true,
};

export interface RawRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Makes `prefix_1`, `prefix_2` … over the life of the server. */
export type NewId = (prefix: string) => string;

/** A reply to be written. */
export interface ReplyPlan {
  readonly pieces: readonly Piece[];
  readonly request: RawRequest;
  readonly model: string;
  readonly finishReason: FinishReason;
  readonly usage: TokenCounts;
  readonly newId: NewId;
  /** The deltas of a text. */
  deltas(text: string): string[];
  /** The deltas of a call's arguments. */
  argumentDeltas(text: string): string[];
}

export interface WireReply {
  readonly content: readonly WireEvent[];
  /** Those without which the reply is not finished. */
  readonly closing: readonly WireEvent[];
}

/** A server-sent event. */
export interface WireEvent {
  readonly name?: string;
  readonly data: string;
}

/** An answer with a status of its own; status 200: the body is the only event of a stream. */
export interface WireFailure {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}
