import type {
  CompletePayload,
  EventPayload,
  ImageUrlPayload,
  InlineDataPayload,
  OmniMessage,
  OmniPayload,
  PartialPayload,
  Sender,
  SessionMetaPayload,
  TextPayload,
} from "./message.ts";

/** Wraps a payload of the conversation, complete or partial, in an envelope stamped now. */
export function modelMessage<P extends CompletePayload | PartialPayload>(payload: P): OmniMessage<P> {
  return envelope("model_msg", payload);
}

/** Wraps an event in an envelope stamped now. */
export function eventMessage<P extends EventPayload>(payload: P): OmniMessage<P> {
  return envelope("event_msg", payload);
}

/** The head of a trace file. */
export function sessionMetaMessage(payload: Omit<SessionMetaPayload, "format">): OmniMessage<SessionMetaPayload> {
  return envelope("session_meta", { format: 1, ...payload });
}

/** What a person, or with `sender` somebody else, says to the model: the usual input of `session.run`. */
export function userText(text: string, sender?: Sender): OmniMessage<TextPayload> {
  return modelMessage({ type: "text", role: "user", text, ...(sender && { sender }) });
}

/** A piece of a reply as one complete message. */
export function assistantText(text: string): OmniMessage<TextPayload> {
  return modelMessage({ type: "text", role: "assistant", text });
}

/** An image in the input, by web address or data URL. */
export function userImage(imageUrl: string): OmniMessage<ImageUrlPayload> {
  return modelMessage({ type: "image_url", role: "user", image_url: imageUrl });
}

/** Binary data in the input, base64. */
export function userData(data: string, mimeType: string): OmniMessage<InlineDataPayload> {
  return modelMessage({ type: "inline_data", role: "user", data, mime_type: mimeType });
}

/** A copy that came through a child session: `hop` is put in front of the origin. */
export function withOrigin<P extends OmniPayload>(message: OmniMessage<P>, hop: string): OmniMessage<P> {
  return { ...message, origin: [hop, ...(message.origin ?? [])] };
}

function envelope<P extends OmniPayload>(type: OmniMessage["type"], payload: P): OmniMessage<P> {
  return { timestamp: new Date().toISOString(), type, payload };
}
