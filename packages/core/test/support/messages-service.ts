/** A content block as its start holds it, and its pieces. */
type WireBlock = readonly [content: object, ...deltas: object[]];

export function block(content: object, ...deltas: object[]): WireBlock {
  return [content, ...deltas];
}

export function text(...pieces: string[]): WireBlock {
  return [{ type: "text", text: "" }, ...pieces.map((piece) => ({ type: "text_delta", text: piece }))];
}

/** Thinking in these pieces, its signature in those. */
export function thought(pieces: readonly string[], ...signatures: string[]): WireBlock {
  return [
    { type: "thinking", thinking: "", signature: "" },
    ...pieces.map((thinking) => ({ type: "thinking_delta", thinking })),
    ...signatures.map((signature) => ({ type: "signature_delta", signature })),
  ];
}

export function start(usage: object): object {
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    usage,
  };
  return { type: "message_start", message };
}

export function numbered(blocks: readonly WireBlock[]): object[] {
  return blocks.flatMap(([content_block, ...deltas], index) => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ]);
}

export function end(stop_reason: string, usage: object = { output_tokens: 5 }): object[] {
  return [{ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage }, { type: "message_stop" }];
}

export function sse(...events: readonly object[]): string {
  return events.map((event) => `event: ${Reflect.get(event, "type")}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/** A whole reply of these blocks. */
export function reply(...blocks: WireBlock[]): string {
  const hasCalls = blocks.some(([content]) => Reflect.get(content, "type") === "tool_use");
  return sse(START, ...numbered(blocks), ...end(hasCalls ? "tool_use" : "end_turn"));
}

/** A beginning of a reply. */
export const START: object = start({ input_tokens: 10, output_tokens: 1 });
