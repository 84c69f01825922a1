import { complete, event, partial } from "./definition.ts";
import type {
  CompletePayload,
  EventPayload,
  OmniMessage,
  OmniPayload,
  PartialPayload,
  SessionMetaPayload,
} from "./message.ts";

/** Every payload type that has a `type`. */
type TypeName = Exclude<OmniPayload["type"], undefined>;

/** True for a message whose payload has this type; narrows the payload. */
export function isType<T extends TypeName>(
  message: OmniMessage,
  type: T,
): message is OmniMessage<Extract<OmniPayload, { readonly type: T }>> {
  return message.payload.type === type;
}

/** The messages of one payload type, in order. */
export function ofType<T extends TypeName>(
  messages: readonly OmniMessage[],
  type: T,
): OmniMessage<Extract<OmniPayload, { readonly type: T }>>[] {
  return messages.filter((message) => isType(message, type)) as OmniMessage<
    Extract<OmniPayload, { readonly type: T }>
  >[];
}

/** True for a known whole piece of the conversation (`text`, `tool_call`, …). */
export function isCompleteModelMessage(message: OmniMessage): message is OmniMessage<CompletePayload> {
  return message.type === "model_msg" && hasType(complete, message.payload);
}

/** True for a fragment of a streaming segment. */
export function isPartialPayload(payload: OmniPayload): payload is PartialPayload {
  return hasType(partial, payload);
}

/** True for any message of the conversation, complete or partial, known or not. */
export function isModelMessage(message: OmniMessage): message is OmniMessage<CompletePayload | PartialPayload> {
  return message.type === "model_msg";
}

/** True for a known event. */
export function isEventMessage(message: OmniMessage): message is OmniMessage<EventPayload> {
  return message.type === "event_msg" && hasType(event, message.payload);
}

export function isSessionMeta(message: OmniMessage): message is OmniMessage<SessionMetaPayload> {
  return message.type === "session_meta";
}

function hasType(table: Readonly<Record<string, unknown>>, payload: OmniPayload): boolean {
  return payload.type !== undefined && Object.hasOwn(table, payload.type);
}
