import { isJsonObject, parseJson } from "../../json-value.ts";
import {
  dataOf,
  type EventMender,
  eventWith,
  lastEvent,
  mendStream,
  NO_REPLY,
  notAStream,
  splitEvents,
} from "../event-stream.ts";
import { foreignReply } from "../foreign-reply.ts";
import { toldError } from "../openai/told-error.ts";
import { endEvent } from "./end-event.ts";
import { REFUSAL_DELTA, ReplyItems, TEXT_DELTA, THINKING_DELTA } from "./reply-items.ts";
import { brokenEvents, errorEvents } from "./wire-error.ts";
import { joinDeltas, type WireEvent } from "./wire-event.ts";

/**
 * Mends a stream of Responses events on its way to the package that reads them; see {@link mendStream}.
 *
 * Only what makes up a reply goes on, in the form in which the package loses nothing of it (see {@link ReplyItems}): items
 * of the service's own tools, events nobody knows, heartbeats and repeated events do not. The stream ends with the end of
 * the response or with an error; one that ends without either ends with an error. A body that is one JSON object is read as
 * a response that came at once; a page, other JSON, and another protocol are errors that say so.
 */
export function mendEvents(body: ReadableStream<Uint8Array>, onBytes?: () => void): ReadableStream<Uint8Array> {
  return mendStream(body, new ResponsesMender(), onBytes);
}

class ResponsesMender implements EventMender {
  readonly #items = new ReplyItems();
  #lastData = "";
  /** The response ended well. */
  finished = false;
  done = false;

  mend(events: string): string {
    return write(splitEvents(events).flatMap((event) => this.#read(event)));
  }

  /** The last event may lack its blank line; half an event is dropped. */
  end(rest: string): string {
    const event = lastEvent(rest);
    const last = parseJson(dataOf(event)) === undefined ? [] : this.#read(event);
    if (this.done) return write(last);
    const stray = notAStream(rest);
    return write([...last, ...(stray === undefined ? brokenEvents(NO_END) : foreignEvents(stray))]);
  }

  broken(message: string): string {
    return write(brokenEvents(message));
  }

  #read(text: string): WireEvent[] {
    const data = this.done ? "" : dataOf(text);
    if (data.trim() === "" || data === "[DONE]") return [];
    const value = parseJson(data);
    const error = toldError(value, text);
    if (error !== undefined) return this.#fail(errorEvents(error));
    if (value === undefined) return this.#fail(brokenEvents("an event of the reply is not valid JSON"));
    if (!isJsonObject(value)) return [];
    const type = typeof value.type === "string" ? value.type : typeOf(value, text);
    return this.#isRepeated(data, value.sequence_number) ? [] : this.#mend({ ...value, type });
  }

  /** The service numbers its events, from 0: none is equal to the one before. */
  #isRepeated(data: string, number: unknown): boolean {
    const isRepeated = typeof number === "number" && number > 0 && data === this.#lastData;
    this.#lastData = data;
    return isRepeated;
  }

  #mend(event: WireEvent): WireEvent[] {
    switch (event.type) {
      case "response.output_item.added":
        return this.#items.add(event);
      case "response.output_item.done":
        return this.#items.finish(event);
      case TEXT_DELTA:
      case REFUSAL_DELTA:
        return this.#items.piece("message", event.type, event);
      case "response.function_call_arguments.delta":
        return this.#items.piece("function_call", event.type, event);
      case "response.function_call_arguments.done":
        return this.#items.arguments(event);
      case "response.reasoning_summary_part.added":
      case "response.reasoning_summary_part.done":
        return this.#items.summaryPart(event);
      case "response.completed":
      case "response.incomplete":
        return this.#end(event.response ?? event, event.type);
      case "response.failed":
      case "response.cancelled":
        return this.#fail(
          errorEvents(errorIn(event.response ?? event) ?? `the response ended as ${event.type.slice(9)}`),
        );
      default:
        return THINKING.test(event.type) ? this.#items.piece("reasoning", THINKING_DELTA, event) : this.#other(event);
    }
  }

  #other(event: WireEvent): WireEvent[] {
    const foreign = event.type.startsWith("response.") ? undefined : foreignReply(event);
    return foreign === undefined ? [] : this.#fail(foreignEvents(foreign));
  }

  #end(response: unknown, type: "response.completed" | "response.incomplete"): WireEvent[] {
    const { error, output, status } = isJsonObject(response) ? response : {};
    if (error) return this.#fail(errorEvents(error));
    this.finished = true;
    this.done = true;
    return [...this.#items.end(output), endEvent(status === "incomplete" ? "response.incomplete" : type, response)];
  }

  #fail(events: WireEvent[]): WireEvent[] {
    this.done = true;
    return events;
  }
}

/** Thinking itself and its summary, by their names old and new. */
const THINKING = /^response\.reasoning(_summary)?(_text)?\.delta$/;
const NO_END = "the reply ended without its end marker";

function foreignEvents(message: string): WireEvent[] {
  return errorEvents({ type: NO_REPLY, message });
}

/** The type of an event that does not name it: that of the server-sent event, or what its content shows. */
function typeOf(value: Record<string, unknown>, text: string): string {
  if (value.object === "response") return `response.${value.status}`;
  return /^(?:\xef\xbb\xbf)?event: ?(.*)$/m.exec(text)?.[1]?.trim() ?? "";
}

function errorIn(response: unknown): unknown {
  return isJsonObject(response) ? response.error : undefined;
}

function write(events: readonly WireEvent[]): string {
  return joinDeltas(events)
    .map((event) => eventWith(JSON.stringify(event)))
    .join("");
}
