import { isJsonObject } from "../../json-value.ts";
import type { WireEvent } from "./mend-blocks.ts";

/**
 * Keeps what other blocks bring back while a thinking block is open: its signature comes at its end, and belongs to thinking
 * that nothing else has closed.
 */
export class ThinkingFirst {
  #thinking: unknown;
  #held: WireEvent[] = [];

  pass(event: WireEvent): WireEvent[] {
    if (event.type === "error") return [...this.#held.splice(0), event];
    if (!event.type.startsWith("content_block_")) return [event];
    if (this.#thinking === undefined) {
      if (startsThinking(event)) this.#thinking = event.index;
      return [event];
    }
    if (event.index !== this.#thinking) {
      this.#held.push(event);
      return [];
    }
    if (event.type !== "content_block_stop") return [event];
    this.#thinking = undefined;
    return [event, ...this.#held.splice(0).flatMap((held) => this.pass(held))];
  }
}

function startsThinking({ type, content_block: content }: WireEvent): boolean {
  return type === "content_block_start" && isJsonObject(content) && content.type === "thinking";
}
