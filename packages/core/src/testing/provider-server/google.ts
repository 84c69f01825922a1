import { isJsonObject } from "../../llm/json-value.ts";
import type { FinishReason } from "../../omnimessage/message.ts";
import type { ProviderErrorKind } from "./faults.ts";
import {
  type Answer,
  argumentsText,
  fidelityOf,
  objectsOf,
  type Piece,
  parsedArguments,
  seal,
  type Turn,
  textOf,
} from "./pieces.ts";
import type { ProviderPart } from "./script.ts";
import type { RawRequest, ReplyPlan, WireEvent, WireFailure, WireProtocol, WireReply } from "./wire-protocol.ts";

/**
 * Google Gemini: a reply with thinking signs its first call, else its last text or image, and wants that back; the thinking
 * itself it does not need. Calls have an id only where the script gives one.
 */
export const google: WireProtocol = {
  basePath: "",
  endpoint: /\/models\/[^/:]+:(streamGenerateContent|generateContent)$/,
  images: true,
  modelOf: ({ path }) => decodeURIComponent(/models\/([^/:]+):/.exec(path)?.[1] ?? ""),
  wantsStream: ({ path }) => path.endsWith(":streamGenerateContent"),
  seal: sealParts,
  write,
  failure,
  errorEvent: ({ body }) => ({ data: JSON.stringify(body) }),
  readTurns,
};

function sealParts(parts: readonly ProviderPart[]): Piece[] {
  const pieces = joinProse(parts).map((part): Piece => {
    if ("thinking" in part) return { kind: "thinking", content: part.thinking, optional: true };
    if ("text" in part) return { kind: "text", content: part.text };
    if ("image" in part) return { kind: "image", content: part.image.data, mediaType: part.image.mediaType };
    const { name, args, id } = part.call;
    return { kind: "call", name, content: argumentsText(args), ...(id !== undefined && { id }) };
  });
  const signed =
    pieces.find(({ kind }) => kind === "call") ?? pieces.findLast(({ kind }) => kind === "text" || kind === "image");
  if (!signed || !pieces.some(({ kind }) => kind === "thinking")) return pieces;
  const fidelity = { thoughtSignature: seal("thought", pieces.map(({ content }) => content).join("\n")) };
  return pieces.map((piece) => (piece === signed ? { ...piece, fidelity } : piece));
}

/** On the wire neighbouring texts are deltas of one. */
function joinProse(parts: readonly ProviderPart[]): ProviderPart[] {
  const joined: ProviderPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last && "text" in last && "text" in part) joined.splice(-1, 1, { text: last.text + part.text });
    else if (last && "thinking" in last && "thinking" in part) {
      joined.splice(-1, 1, { thinking: last.thinking + part.thinking });
    } else joined.push(part);
  }
  return joined;
}

type Fields = Readonly<Record<string, unknown>>;

function write(plan: ReplyPlan): WireReply {
  const { cache_read, cache_write, output } = plan.usage;
  const shell = { modelVersion: plan.model, responseId: plan.newId("response") };
  const event = (part: Fields, rest: Fields = {}, usage: Fields = {}): WireEvent => ({
    data: JSON.stringify({
      candidates: [{ content: { parts: [part], role: "model" }, ...rest, index: 0 }],
      ...usage,
      ...shell,
    }),
  });
  const usageMetadata = {
    promptTokenCount: cache_read + cache_write,
    cachedContentTokenCount: cache_read,
    candidatesTokenCount: output,
    totalTokenCount: cache_read + cache_write + output,
  };
  return {
    content: plan.pieces.flatMap((piece) => wireParts(piece, plan)).map((part) => event(part)),
    closing: [event({ text: "" }, { finishReason: FINISH_REASONS[plan.finishReason] }, { usageMetadata })],
  };
}

/** A piece as it streams; the signature of a text comes with its last delta. */
function wireParts(piece: Piece, plan: ReplyPlan): Fields[] {
  if (piece.kind === "call") {
    const { name, id, content } = piece;
    const functionCall = { ...(id !== undefined && { id }), name, args: parsedArguments(piece) ?? content };
    return [{ functionCall, ...piece.fidelity }];
  }
  if (piece.kind === "image") {
    return [{ inlineData: { mimeType: piece.mediaType, data: piece.content }, ...piece.fidelity }];
  }
  const thought = piece.kind === "thinking" ? { thought: true } : {};
  const texts = plan.deltas(piece.content);
  return texts.map((text, i) => ({ text, ...thought, ...(i === texts.length - 1 && piece.fidelity) }));
}

const FINISH_REASONS = {
  stop: "STOP",
  tool_calls: "STOP",
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
  other: "OTHER",
} as const satisfies Record<FinishReason, string>;

function failure(error: ProviderErrorKind, model: string, message: string | undefined): WireFailure {
  if (error === "content-refusal") {
    return { status: 200, body: { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, modelVersion: model } };
  }
  const { status: code, name: status, words, reason } = ERRORS[error];
  const details = reason === undefined ? {} : { details: [{ "@type": ERROR_INFO, reason, domain: "googleapis.com" }] };
  return { status: code, body: { error: { code, message: message ?? words(model), status, ...details } } };
}

const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";

interface GoogleError {
  readonly status: number;
  readonly name: string;
  readonly reason?: string;
  words(model: string): string;
}

const INVALID = { status: 400, name: "INVALID_ARGUMENT" };
const EXHAUSTED = { status: 429, name: "RESOURCE_EXHAUSTED" };

const ERRORS: Readonly<Record<Exclude<ProviderErrorKind, "content-refusal">, GoogleError>> = {
  credentials: {
    ...INVALID,
    reason: "API_KEY_INVALID",
    words: () => "API key not valid. Please pass a valid API key.",
  },
  "rate-limit": { ...EXHAUSTED, words: () => "Resource has been exhausted (e.g. check quota)." },
  overloaded: {
    status: 503,
    name: "UNAVAILABLE",
    words: () => "The model is overloaded. Please try again later.",
  },
  "server-error": { status: 500, name: "INTERNAL", words: () => "An internal error has occurred." },
  "context-overflow": {
    ...INVALID,
    words: () => "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
  },
  "unknown-model": {
    status: 404,
    name: "NOT_FOUND",
    words: (model) => `models/${model} is not found for API version v1beta.`,
  },
  "invalid-request": { ...INVALID, words: () => "Request contains an invalid argument." },
  "out-of-credit": {
    ...EXHAUSTED,
    words: () => "Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.",
  },
};

function readTurns(body: RawRequest["body"]): Turn[] {
  return objectsOf(body.contents).map(({ role, parts }): Turn => {
    if (role === "model") return { role: "assistant", pieces: objectsOf(parts).flatMap(piecesOf) };
    return { role: "user", answers: objectsOf(parts).flatMap(answersOf) };
  });
}

function piecesOf({ text, thought, functionCall, inlineData, thoughtSignature }: Record<string, unknown>): Piece[] {
  const sealed = fidelityOf({ thoughtSignature });
  if (isJsonObject(functionCall)) {
    const { id, name, args } = functionCall;
    const call = { kind: "call", name: textOf(name), content: argumentsText(args), ...sealed } as const;
    return [typeof id === "string" ? { ...call, id } : call];
  }
  if (isJsonObject(inlineData)) {
    return [{ kind: "image", content: textOf(inlineData.data), mediaType: textOf(inlineData.mimeType), ...sealed }];
  }
  return [{ kind: thought === true ? "thinking" : "text", content: textOf(text), ...sealed }];
}

function answersOf({ functionResponse }: Record<string, unknown>): Answer[] {
  if (!isJsonObject(functionResponse)) return [];
  const { id, name } = functionResponse;
  return [{ name: textOf(name), ...(typeof id === "string" && { id }) }];
}
