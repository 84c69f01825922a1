import { isJsonObject } from "../../json-value.ts";
import type { WireEvent } from "./mend-blocks.ts";

/** A reply that came at once, as the events that a stream of it would have brought. */
export function eventsOf(message: Readonly<Record<string, unknown>>): WireEvent[] {
  const { content, stop_reason, usage } = message;
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  return [
    { type: "message_start", message },
    ...blocks.flatMap((content_block, index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason }, usage },
    { type: "message_stop" },
  ];
}
