/** An event of a reply over Chat Completions. */
export function chunk(delta: object, finish_reason: string | null = null, more: object = {}): object {
  return {
    id: "c1",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
    ...more,
  };
}

/** A delta with a piece of a call. */
export function toolCall(piece: object): object {
  return { tool_calls: [piece] };
}

export function sse(...events: (object | string | null)[]): string {
  return events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");
}

/** A whole reply of these deltas. */
export function reply(...deltas: object[]): string {
  const hasCalls = deltas.some((delta) => "tool_calls" in delta);
  return sse(...deltas.map((delta) => chunk(delta)), chunk({}, hasCalls ? "tool_calls" : "stop"), "[DONE]");
}
