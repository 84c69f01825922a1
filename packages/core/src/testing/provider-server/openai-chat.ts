import { isJsonObject } from "../../llm/json-value.ts";
import type { FinishReason } from "../../omnimessage/message.ts";
import { openaiFailure } from "./openai-errors.ts";
import { type CallPiece, contentText, objectsOf, type Piece, plainPieces, type Turn, textOf } from "./pieces.ts";
import { type ReplyPlan, SAID_IN_BODY, type WireEvent, type WireProtocol, type WireReply } from "./wire-protocol.ts";

/** OpenAI Chat Completions, as compatible servers speak it: thinking comes, and is wanted back, as `reasoning_content`. */
export const openaiChat: WireProtocol = {
  basePath: "/v1",
  endpoint: /\/chat\/completions$/,
  ...SAID_IN_BODY,
  images: false,
  seal: (parts, newId) => parts.flatMap((part) => plainPieces(part, () => newId("call"))),
  write,
  failure: openaiFailure,
  errorEvent: ({ body }) => ({ data: JSON.stringify(body) }),
  readTurns,
};

function write(plan: ReplyPlan): WireReply {
  const { cache_read, cache_write, output } = plan.usage;
  const shell = { id: plan.newId("chatcmpl"), object: "chat.completion.chunk", created: 0, model: plan.model };
  const event = (fields: object): WireEvent => ({ data: JSON.stringify({ ...shell, ...fields }) });
  const chunk = (delta: object, finish_reason: string | null = null): WireEvent =>
    event({ choices: [{ index: 0, delta, finish_reason }] });
  const { stream_options: options } = plan.request.body;
  const usage = {
    prompt_tokens: cache_read + cache_write,
    completion_tokens: output,
    total_tokens: cache_read + cache_write + output,
    prompt_tokens_details: { cached_tokens: cache_read },
  };
  return {
    content: [{ role: "assistant", content: "" }, ...deltasOf(plan)].map((delta) => chunk(delta)),
    closing: [
      chunk({}, FINISH_REASONS[plan.finishReason]),
      ...(isJsonObject(options) && options.include_usage === true ? [event({ choices: [], usage })] : []),
      { data: "[DONE]" },
    ],
  };
}

function deltasOf(plan: ReplyPlan): object[] {
  let calls = 0;
  return plan.pieces.flatMap((piece): object[] => {
    if (piece.kind === "thinking")
      return plan.deltas(piece.content).map((reasoning_content) => ({ reasoning_content }));
    if (piece.kind === "text") return plan.deltas(piece.content).map((content) => ({ content }));
    return piece.kind === "call" ? callDeltas(piece, calls++, plan) : [];
  });
}

function callDeltas({ id, name, content }: CallPiece, index: number, plan: ReplyPlan): object[] {
  const first = { index, ...(id !== undefined && { id }), type: "function", function: { name, arguments: "" } };
  const rest = plan.argumentDeltas(content).map((text) => ({ index, function: { arguments: text } }));
  return [first, ...rest].map((call) => ({ tool_calls: [call] }));
}

const FINISH_REASONS = {
  stop: "stop",
  tool_calls: "tool_calls",
  length: "length",
  content_filter: "content_filter",
  other: "other",
} as const satisfies Record<FinishReason, string>;

function readTurns(body: Readonly<Record<string, unknown>>): Turn[] {
  return objectsOf(body.messages).flatMap((message): Turn[] => {
    if (message.role === "assistant") return [{ role: "assistant", pieces: piecesOf(message) }];
    if (message.role === "tool") return [{ role: "user", answers: [{ id: textOf(message.tool_call_id) }] }];
    return message.role === "user" ? [{ role: "user", answers: [] }] : [];
  });
}

function piecesOf(message: Record<string, unknown>): Piece[] {
  const thinking = textOf(message.reasoning_content);
  const text = contentText(message.content);
  return [
    ...(thinking === "" ? [] : [{ kind: "thinking", content: thinking } as const]),
    ...(text === "" ? [] : [{ kind: "text", content: text } as const]),
    ...objectsOf(message.tool_calls).map((call): Piece => {
      const called = isJsonObject(call.function) ? call.function : {};
      return { kind: "call", id: textOf(call.id), name: textOf(called.name), content: textOf(called.arguments) };
    }),
  ];
}
