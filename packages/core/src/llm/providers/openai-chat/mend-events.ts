import { isJsonObject, jsonText, parseJson } from "../../json-value.ts";
import { dataOf, type EventMender, eventWith, lastEvent, mendStream, splitEvents } from "../event-stream.ts";
import { BROKEN_REPLY } from "../provider.ts";
import { ToolCallMender } from "./mend-tool-calls.ts";

/**
 * Mends a stream of chat-completion events on its way to the package that reads them; see {@link mendStream}.
 *
 * Events with tool calls are rewritten (see {@link ToolCallMender}); everything else passes through byte for byte. The
 * stream ends at `[DONE]`, and after a `finish_reason` it ends well however the connection ends: the reply is complete
 * then. A stream that ends without one, or with one that says that the server gave up, ends with an error event, before the
 * package closes its segments as if they were whole. A body that is one JSON object is read as a single event.
 *
 * @param watch.onBytes - Called whenever bytes arrive, those of comments and of half an event too.
 * @param watch.onToolCalls - Called with the mended pieces of calls.
 * @param watch.rewrite - The last to change whole events that arrive together, as latin1 text.
 */
export function mendEvents(body: ReadableStream<Uint8Array>, watch: EventWatch = {}): ReadableStream<Uint8Array> {
  return mendStream(body, new ChatMender(watch), watch.onBytes);
}

export interface EventWatch {
  readonly onBytes?: (() => void) | undefined;
  readonly onToolCalls?: (pieces: readonly Record<string, unknown>[]) => void;
  readonly rewrite?: (events: string) => string;
}

class ChatMender implements EventMender {
  readonly #watch: EventWatch;
  readonly #toolCalls = new ToolCallMender();
  finished = false;
  /** `[DONE]` went by. */
  done = false;

  constructor(watch: EventWatch) {
    this.#watch = watch;
  }

  mend(events: string): string {
    const mended = NOTEWORTHY.test(events)
      ? splitEvents(events)
          .map((event) => this.#mend(event))
          .join("")
      : events;
    return this.#watch.rewrite?.(mended) ?? mended;
  }

  /** The last event may lack its blank line; half an event is dropped. */
  end(rest: string): string {
    const event = lastEvent(rest);
    const data = dataOf(event);
    const last = data === DONE || parseJson(data) !== undefined ? this.#mend(`${event}\n\n`) : "";
    return this.finished || this.done ? last : last + NO_END;
  }

  broken(message: string): string {
    return brokenEvent(message);
  }

  #mend(event: string): string {
    if (this.done) return "";
    if (!NOTEWORTHY.test(event)) return event;
    const data = dataOf(event);
    if (data === DONE) {
      this.done = true;
      return this.finished ? event : NO_END + event;
    }
    const value = parseJson(data);
    const choice = isJsonObject(value) && Array.isArray(value.choices) ? value.choices[0] : undefined;
    if (!isJsonObject(value) || !isJsonObject(choice) || value.error) return event;
    const reason = finishReasonOf(choice);
    if (reason !== undefined && GAVE_UP.has(reason)) return brokenEvent(`the provider gave the reply up (${reason})`);
    const mended = this.#mendChoice(choice) ? jsonText(value) : undefined;
    return mended === undefined ? event : eventWith(mended);
  }

  /** @returns Whether the choice is another now. */
  #mendChoice(choice: Record<string, unknown>): boolean {
    const whole = choice.delta === undefined && isJsonObject(choice.message);
    const delta = isJsonObject(choice.delta) ? choice.delta : whole ? choice.message : {};
    if (!isJsonObject(delta)) return false;
    const sent = Array.isArray(delta.tool_calls) ? this.#toolCalls.mend(delta.tool_calls) : undefined;
    const ends = finishReasonOf(choice) !== undefined;
    const late = ends ? this.#toolCalls.nameless() : [];
    this.finished ||= ends;
    // The package would take it for a reason, and for a better one than that which came before.
    const endsOnNothing = choice.finish_reason === "";
    if (endsOnNothing) choice.finish_reason = null;
    if (!sent && late.length === 0 && !whole) return endsOnNothing;
    const toolCalls = [...(sent ?? []), ...late];
    this.#watch.onToolCalls?.(toolCalls);
    choice.delta = { ...delta, tool_calls: toolCalls };
    return true;
  }
}

/** Finish reasons of servers that could not finish. */
const GAVE_UP: ReadonlySet<string> = new Set(["error", "insufficient_system_resource"]);
const NO_END = brokenEvent("the reply ended without its end marker");
const DONE = "[DONE]";
/** What an event must hold to be looked at. Inside strings of JSON these quotes would be escaped. */
const NOTEWORTHY = /"tool_calls"|"finish_reason"\s*:\s*"|\[DONE\]/;

function brokenEvent(message: string): string {
  return eventWith(JSON.stringify({ error: { message, type: BROKEN_REPLY } }));
}

/** Why the reply ended, if it did; servers write `null` or nothing at all until then, some an empty text. */
function finishReasonOf({ finish_reason: reason }: Record<string, unknown>): string | undefined {
  return typeof reason === "string" && reason !== "" ? reason : undefined;
}
