/** An event, or a text that stands for one. */
export type Sent = object | string | null;

export function sse(...events: Sent[]): string {
  return events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");
}

/** A whole reply of these events. */
export function reply(...events: Sent[]): string {
  return sse({ type: "response.created", response: { id: "resp_1" } }, ...events, completed());
}

export function completed(response: object = {}): object {
  return { type: "response.completed", response: { status: "completed", ...response } };
}

export function incomplete(reason: string | null): object {
  return { type: "response.incomplete", response: { incomplete_details: reason === null ? null : { reason } } };
}

export function added(item: object, output_index?: number): object {
  return { type: "response.output_item.added", output_index, item };
}

export function done(item: object, output_index?: number): object {
  return { type: "response.output_item.done", output_index, item };
}

/** The events of a message of the model. */
export function message(text: string, id = "msg_1", output_index = 0, fields: object = {}): object[] {
  const item = { type: "message", id, role: "assistant", ...fields };
  return [
    added({ ...item, content: [] }, output_index),
    textDelta(text, id, output_index),
    done({ ...item, content: [{ type: "output_text", text }] }, output_index),
  ];
}

export function textDelta(delta: string, item_id?: string, output_index?: number): object {
  return { type: "response.output_text.delta", item_id, output_index, delta };
}

export function thinkingDelta(delta: string, item_id?: string, output_index?: number, summary_index = 0): object {
  return { type: "response.reasoning_summary_text.delta", item_id, output_index, summary_index, delta };
}

export function argumentsDelta(delta: string, item_id?: string, output_index?: number): object {
  return { type: "response.function_call_arguments.delta", item_id, output_index, delta };
}

export function functionCall(call_id: string | null, args: unknown = "{}", fields: object = {}): object {
  return {
    type: "function_call",
    id: `fc_${call_id}`,
    call_id,
    name: "read_file",
    arguments: args,
    status: "completed",
    ...fields,
  };
}
