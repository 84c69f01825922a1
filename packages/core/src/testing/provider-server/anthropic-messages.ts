import type { FinishReason } from "../../omnimessage/message.ts";
import type { ProviderErrorKind } from "./faults.ts";
import { argumentsText, fidelityOf, objectsOf, type Piece, plainPieces, seal, type Turn, textOf } from "./pieces.ts";
import type { ProviderPart } from "./script.ts";
import {
  type NewId,
  type ReplyPlan,
  SAID_IN_BODY,
  type WireEvent,
  type WireFailure,
  type WireProtocol,
  type WireReply,
} from "./wire-protocol.ts";

/** Anthropic Messages: thinking is signed, and wanted back with its signature. */
export const anthropicMessages: WireProtocol = {
  basePath: "",
  endpoint: /\/messages$/,
  ...SAID_IN_BODY,
  images: false,
  seal: sealParts,
  write,
  failure,
  errorEvent: ({ body }) => ({ name: "error", data: JSON.stringify(body) }),
  readTurns,
};

function sealParts(parts: readonly ProviderPart[], newId: NewId): Piece[] {
  return parts
    .flatMap((part) => plainPieces(part, () => newId("toolu")))
    .map((piece) =>
      piece.kind === "thinking" ? { ...piece, fidelity: { signature: seal("thinking", piece.content) } } : piece,
    );
}

type Fields = Readonly<Record<string, unknown>>;

function write(plan: ReplyPlan): WireReply {
  const { cache_read, cache_write, output } = plan.usage;
  const usage = {
    input_tokens: cache_write,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cache_read,
    output_tokens: 1,
  };
  const message = {
    ...{ id: plan.newId("msg"), type: "message", role: "assistant", model: plan.model },
    ...{ content: [], stop_reason: null, stop_sequence: null, usage },
  };
  const stop = { stop_reason: STOP_REASONS[plan.finishReason], stop_sequence: null };
  return {
    content: [
      event({ type: "message_start", message }),
      event({ type: "ping" }),
      ...plan.pieces.flatMap((piece, index) => blockEvents(piece, index, plan)),
    ],
    closing: [
      event({ type: "message_delta", delta: stop, usage: { output_tokens: output } }),
      event({ type: "message_stop" }),
    ],
  };
}

function event(fields: Fields): WireEvent {
  return { name: textOf(fields.type), data: JSON.stringify(fields) };
}

function blockEvents(piece: Piece, index: number, plan: ReplyPlan): WireEvent[] {
  const { content_block, deltas } = blockOf(piece, plan);
  return [
    event({ type: "content_block_start", index, content_block }),
    ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
    event({ type: "content_block_stop", index }),
  ];
}

function blockOf(piece: Piece, plan: ReplyPlan): { content_block: Fields; deltas: Fields[] } {
  if (piece.kind === "call") {
    return {
      content_block: { type: "tool_use", id: piece.id ?? "", name: piece.name, input: {} },
      deltas: plan.argumentDeltas(piece.content).map((partial_json) => ({ type: "input_json_delta", partial_json })),
    };
  }
  if (piece.kind === "thinking") {
    const thoughts = plan.deltas(piece.content).map((thinking) => ({ type: "thinking_delta", thinking }));
    return {
      content_block: { type: "thinking", thinking: "", signature: "" },
      deltas: [...thoughts, { type: "signature_delta", ...piece.fidelity }],
    };
  }
  const texts = plan.deltas(piece.content).map((text) => ({ type: "text_delta", text }));
  return { content_block: { type: "text", text: "" }, deltas: texts };
}

const STOP_REASONS = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
  other: "other",
} as const satisfies Record<FinishReason, string>;

function failure(error: ProviderErrorKind, model: string, message: string | undefined): WireFailure {
  const { status, type, words } = ERRORS[error];
  return { status, body: { type: "error", error: { type, message: message ?? words(model) } } };
}

interface AnthropicError {
  readonly status: number;
  readonly type: string;
  words(model: string): string;
}

const INVALID = { status: 400, type: "invalid_request_error" };

const ERRORS: Readonly<Record<ProviderErrorKind, AnthropicError>> = {
  credentials: { status: 401, type: "authentication_error", words: () => "invalid x-api-key" },
  "rate-limit": {
    status: 429,
    type: "rate_limit_error",
    words: () => "This request would exceed your organization's rate limit.",
  },
  overloaded: { status: 529, type: "overloaded_error", words: () => "Overloaded" },
  "server-error": { status: 500, type: "api_error", words: () => "Internal server error" },
  "context-overflow": { ...INVALID, words: () => "prompt is too long: 200001 tokens > 200000 maximum" },
  "unknown-model": { status: 404, type: "not_found_error", words: (model) => `model: ${model}` },
  "content-refusal": { ...INVALID, words: () => "Output blocked by content filtering policy" },
  "invalid-request": { ...INVALID, words: () => "messages: Field required" },
  "out-of-credit": { ...INVALID, words: () => "Your credit balance is too low to access the Anthropic API." },
};

function readTurns(body: Fields): Turn[] {
  return objectsOf(body.messages).flatMap((message): Turn[] => {
    const blocks = typeof message.content === "string" ? [textBlock(message.content)] : objectsOf(message.content);
    if (message.role === "assistant") return [{ role: "assistant", pieces: blocks.flatMap(piecesOf) }];
    const results = blocks.filter(({ type }) => type === "tool_result");
    return [{ role: "user", answers: results.map(({ tool_use_id }) => ({ id: textOf(tool_use_id) })) }];
  });
}

function textBlock(text: string): Record<string, unknown> {
  return { type: "text", text };
}

function piecesOf({ type, text, thinking, signature, id, name, input }: Record<string, unknown>): Piece[] {
  if (type === "text") return [{ kind: "text", content: textOf(text) }];
  if (type === "thinking") return [{ kind: "thinking", content: textOf(thinking), ...fidelityOf({ signature }) }];
  return type === "tool_use"
    ? [{ kind: "call", id: textOf(id), name: textOf(name), content: argumentsText(input) }]
    : [];
}
