import type { FinishReason } from "../../omnimessage/message.ts";
import { openaiFailure } from "./openai-errors.ts";
import { contentText, fidelityOf, objectsOf, type Piece, plainPieces, seal, type Turn, textOf } from "./pieces.ts";
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

/**
 * OpenAI Responses without storage: thinking is an item with an id and encrypted content, both wanted back with it, and so
 * is the id of a message behind it. Other ids may stay away, and so may thinking that nothing comes behind.
 */
export const openaiResponses: WireProtocol = {
  basePath: "/v1",
  endpoint: /\/responses$/,
  ...SAID_IN_BODY,
  images: false,
  seal: sealParts,
  write,
  failure: openaiFailure,
  errorEvent,
  readTurns,
};

function sealParts(parts: readonly ProviderPart[], newId: NewId): Piece[] {
  const pieces = parts.flatMap((part) => plainPieces(part, () => newId("call")));
  return pieces.map((piece, i): Piece => {
    if (piece.kind === "thinking") {
      const fidelity = { id: newId("rs"), encrypted_content: seal("reasoning", piece.content) };
      const alone = pieces.slice(i).every(({ kind }) => kind === "thinking");
      return { ...piece, fidelity, ...(alone && { optional: true }) };
    }
    const thought = pieces.slice(0, i).some(({ kind }) => kind === "thinking");
    return piece.kind === "text" && thought ? { ...piece, fidelity: { id: newId("msg") } } : piece;
  });
}

type Fields = Readonly<Record<string, unknown>>;

function write(plan: ReplyPlan): WireReply {
  const response = { id: plan.newId("resp"), object: "response", created_at: 0, model: plan.model };
  const items = plan.pieces.map((piece, index) => itemOf(piece, index, plan));
  const incomplete = INCOMPLETE[plan.finishReason];
  const status = incomplete === undefined ? "completed" : "incomplete";
  const started = { ...response, status: "in_progress", output: [], error: null, usage: null };
  const content: Fields[] = [
    { type: "response.created", response: started },
    { type: "response.in_progress", response: started },
    ...items.flatMap(({ events }) => events),
  ];
  const end: Fields = {
    type: `response.${status}`,
    response: {
      ...response,
      status,
      output: items.map(({ done }) => done),
      error: null,
      incomplete_details: incomplete === undefined ? null : { reason: incomplete },
      usage: usageOf(plan),
    },
  };
  return { content: content.map(numbered), closing: [numbered(end, content.length)] };
}

function numbered(event: Fields, sequence_number: number): WireEvent {
  return { name: textOf(event.type), data: JSON.stringify({ ...event, sequence_number }) };
}

/** Absent: the reply is complete. */
const INCOMPLETE: Readonly<Record<FinishReason, string | undefined>> = {
  stop: undefined,
  tool_calls: undefined,
  length: "max_output_tokens",
  content_filter: "content_filter",
  other: "other",
};

function usageOf({ usage: { cache_read, cache_write, output } }: ReplyPlan): Fields {
  return {
    input_tokens: cache_read + cache_write,
    input_tokens_details: { cached_tokens: cache_read },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: cache_read + cache_write + output,
  };
}

/** The events of one item, and the item as it is when it is done. */
function itemOf(piece: Piece, output_index: number, plan: ReplyPlan): { events: Fields[]; done: Fields } {
  const id = piece.fidelity?.id ?? plan.newId(piece.kind === "call" ? "fc" : "msg");
  const place = { item_id: id, output_index };
  const { begun, done, events } = itemParts(piece, id, place, plan);
  return {
    done,
    events: [
      { type: "response.output_item.added", output_index, item: begun },
      ...events,
      { type: "response.output_item.done", output_index, item: done },
    ],
  };
}

function itemParts(piece: Piece, id: string, place: Fields, plan: ReplyPlan): ItemParts {
  if (piece.kind === "thinking") return reasoningItem(piece, place, plan);
  if (piece.kind === "call") {
    const item = { id, type: "function_call", call_id: piece.id ?? "", name: piece.name };
    const name = "response.function_call_arguments";
    return {
      begun: { ...item, status: "in_progress", arguments: "" },
      done: { ...item, status: "completed", arguments: piece.content },
      events: [
        ...plan.argumentDeltas(piece.content).map((delta) => ({ type: `${name}.delta`, ...place, delta })),
        { type: `${name}.done`, ...place, arguments: piece.content },
      ],
    };
  }
  const item = { id, type: "message", role: "assistant" };
  const part = { type: "output_text", text: piece.content, annotations: [] };
  const at = { ...place, content_index: 0 };
  return {
    begun: { ...item, status: "in_progress", content: [] },
    done: { ...item, status: "completed", content: [part] },
    events: [
      { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
      ...plan.deltas(piece.content).map((delta) => ({ type: "response.output_text.delta", ...at, delta })),
      { type: "response.output_text.done", ...at, text: piece.content },
      { type: "response.content_part.done", ...at, part },
    ],
  };
}

interface ItemParts {
  readonly begun: Fields;
  readonly done: Fields;
  /** Between its beginning and its end. */
  readonly events: Fields[];
}

/** Thinking of no text is a reasoning item without a summary. */
function reasoningItem({ content, fidelity }: Piece, place: Fields, plan: ReplyPlan): ItemParts {
  const summary = content === "" ? [] : [{ type: "summary_text", text: content }];
  const at = { ...place, summary_index: 0 };
  const name = "response.reasoning_summary";
  return {
    begun: { id: fidelity?.id, type: "reasoning", summary: [] },
    done: { ...fidelity, type: "reasoning", summary },
    events: summary.flatMap((part) => [
      { type: `${name}_part.added`, ...at, part: { ...part, text: "" } },
      ...plan.deltas(content).map((delta) => ({ type: `${name}_text.delta`, ...at, delta })),
      { type: `${name}_text.done`, ...at, text: content },
      { type: `${name}_part.done`, ...at, part },
    ]),
  };
}

function errorEvent({ body }: WireFailure): WireEvent {
  return numbered({ type: "error", error: body.error }, 0);
}

function readTurns(body: Fields): Turn[] {
  return objectsOf(body.input).flatMap((item): Turn[] => {
    if (item.type === "function_call_output") return [{ role: "user", answers: [{ id: textOf(item.call_id) }] }];
    if (item.role === "user") return [{ role: "user", answers: [] }];
    const piece = pieceOf(item);
    return piece ? [{ role: "assistant", pieces: [piece] }] : [];
  });
}

function pieceOf(item: Record<string, unknown>): Piece | undefined {
  const { id, encrypted_content } = item;
  if (item.type === "reasoning") {
    return { kind: "thinking", content: contentText(item.summary), ...fidelityOf({ id, encrypted_content }) };
  }
  if (item.type === "function_call") {
    return { kind: "call", id: textOf(item.call_id), name: textOf(item.name), content: textOf(item.arguments) };
  }
  if (item.role !== "assistant") return undefined;
  return { kind: "text", content: contentText(item.content), ...fidelityOf({ id }) };
}
