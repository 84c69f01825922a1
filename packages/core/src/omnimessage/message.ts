import type { complete, event, names, partial, sessionMeta } from "./definition.ts";
import type { FieldsOf, TypeOf } from "./shape.ts";

type NamesTable = typeof names;
type Named<K extends keyof NamesTable> = TypeOf<K, NamesTable>;
/** A payload of the tables, with its discriminating `type`. */
type PayloadOf<Table, K extends keyof Table> = { readonly type: K } & FieldsOf<Table[K], NamesTable>;

/** How a message, a request or a tool call ended. */
export type StopReason = Named<"StopReason">;
/** Why the provider ended a reply. */
export type FinishReason = Named<"FinishReason">;
/** Who wrote a user text; absent means the person. Never sent to a provider. */
export type Sender = Named<"Sender">;
export type ToolPermission = Named<"Permission">;
/** How much harm a call can do (PE-052). */
export type ToolRisk = Named<"Risk">;
/** `cache_write` is uncached input, `output` includes thinking, `total` is their sum with `cache_read`. */
export type TokenCounts = Named<"TokenCounts">;
/** What a tool itself spent, in pi's fields (PI-011). */
export type ToolUsage = Named<"ToolUsage">;
/** A tool as it is offered; `name`, `description` and `parameters` (a JSON Schema of type object) reach the model. */
export type ToolDefinition = Named<"ToolDefinition">;

export type TextPayload = PayloadOf<typeof complete, "text">;
export type ThinkingPayload = PayloadOf<typeof complete, "thinking">;
export type InlineThinkingPayload = PayloadOf<typeof complete, "inline_thinking">;
export type ToolCallPayload = PayloadOf<typeof complete, "tool_call">;
export type ToolCallOutputPayload = PayloadOf<typeof complete, "tool_call_output">;
export type ImageUrlPayload = PayloadOf<typeof complete, "image_url">;
export type InlineDataPayload = PayloadOf<typeof complete, "inline_data">;
/** A whole piece of the conversation. */
export type CompletePayload = { [K in keyof typeof complete]: PayloadOf<typeof complete, K> }[keyof typeof complete];

export type PartialTextPayload = PayloadOf<typeof partial, "partial_text">;
export type PartialThinkingPayload = PayloadOf<typeof partial, "partial_thinking">;
export type PartialToolCallPayload = PayloadOf<typeof partial, "partial_tool_call">;
export type PartialToolCallOutputPayload = PayloadOf<typeof partial, "partial_tool_call_output">;
/** A fragment of a segment that is still streaming. */
export type PartialPayload = { [K in keyof typeof partial]: PayloadOf<typeof partial, K> }[keyof typeof partial];

/** The payload of an event by its type, as `EventPayload<"request_end">`; without argument any event. */
export type EventPayload<K extends keyof typeof event = keyof typeof event> = {
  [T in K]: PayloadOf<typeof event, T>;
}[K];

/** The head of a trace file; the only payload without a `type`. */
export type SessionMetaPayload = FieldsOf<typeof sessionMeta, NamesTable> & { readonly type?: never };

export type ModelPayload = CompletePayload | PartialPayload;
export type OmniPayload = ModelPayload | EventPayload | SessionMetaPayload;

/**
 * The one envelope of Rookery: what the SDK streams, a trace stores a line of, and front ends receive.
 *
 * @property origin - Child session ids, outer to inner; absent for the main session.
 */
export interface OmniMessage<P extends OmniPayload = OmniPayload> {
  /** ISO 8601 UTC, when the message was built. */
  readonly timestamp: string;
  readonly type: "session_meta" | "model_msg" | "event_msg";
  readonly payload: P;
  readonly origin?: readonly string[];
}
