import { isJsonObject, jsonText, parseJson } from "../../json-value.ts";
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
import { isLimit } from "../limit-words.ts";
import { toldError } from "../openai/told-error.ts";
import { BROKEN_REPLY } from "../provider.ts";
import { ToolCallMender } from "./mend-tool-calls.ts";

/**
 * Mends a stream of chat-completion events on its way to the package that reads them; see {@link mendStream}.
 *
 * Events with tool calls, other words for the output limit, and errors that the package would not see are rewritten (see
 * {@link ToolCallMender}); everything else passes through byte for byte. The stream ends at `[DONE]`, and after a
 * `finish_reason` it ends well however the connection ends and whatever errors follow: the reply is complete then. A stream
 * that ends without one, or with one that says that the server gave up, ends with an error event, before the package closes
 * its segments as if they were whole. A body that is one JSON object is read as a single event; a page, other JSON, and
 * another protocol are errors that say so.
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
    const mended = this.#isNoteworthy(events)
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
    const value = parseJson(data);
    const last = data === DONE || value !== undefined ? this.#mend(`${event}\n\n`) : "";
    if (this.finished || this.done) return last;
    const stray = firstChoice(value) ? undefined : notAStream(rest);
    return last + (stray === undefined ? NO_END : errorEvent(stray, NO_REPLY));
  }

  broken(message: string): string {
    return brokenEvent(message);
  }

  #isNoteworthy(text: string): boolean {
    return this.finished || NOTEWORTHY.test(text);
  }

  #mend(event: string): string {
    if (this.done) return "";
    if (!this.#isNoteworthy(event)) return event;
    const data = dataOf(event);
    if (data === DONE) {
      this.done = true;
      return this.finished ? event : NO_END + event;
    }
    const value = parseJson(data);
    const error = toldError(value, event);
    if (this.finished && (error || (value === undefined && data.trim() !== ""))) return "";
    if (error) return isJsonObject(value) && value.error ? event : toldEvent(error);
    const choice = firstChoice(value);
    return isJsonObject(value) ? this.#mendChunk(event, value, choice) : event;
  }

  #mendChunk(event: string, chunk: Record<string, unknown>, choice: Record<string, unknown> | undefined): string {
    if (!choice) {
      const foreign = this.finished || chunk.choices ? undefined : foreignReply(chunk);
      return foreign === undefined ? event : errorEvent(foreign, NO_REPLY);
    }
    const reason = finishReasonOf(choice);
    if (reason !== undefined && GAVE_UP.has(reason)) {
      return this.finished ? "" : brokenEvent(`the provider gave the reply up (${reason})`);
    }
    const mended = this.#mendChoice(choice) ? jsonText(chunk) : undefined;
    return mended === undefined ? event : eventWith(mended);
  }

  /** @returns Whether the choice is another now. */
  #mendChoice(choice: Record<string, unknown>): boolean {
    const whole = choice.delta === undefined && isJsonObject(choice.message);
    const delta = isJsonObject(choice.delta) ? choice.delta : whole ? choice.message : {};
    if (!isJsonObject(delta)) return false;
    const sent = Array.isArray(delta.tool_calls) ? this.#toolCalls.mend(delta.tool_calls) : undefined;
    const reason = finishReasonOf(choice);
    const ends = reason !== undefined;
    const late = ends ? this.#toolCalls.nameless() : [];
    this.finished ||= ends;
    // The package would take an empty one for a better one than that which came before.
    const known = ends && isLimit(reason) ? "length" : (reason ?? null);
    const isOther = (choice.finish_reason ?? null) !== known;
    if (isOther) choice.finish_reason = known;
    if (!sent && late.length === 0 && !whole) return isOther;
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
const NOTEWORTHY =
  /"tool_calls"|"finish_reason"\s*:\s*"|\[DONE\]|"(?:object|type)"\s*:\s*"(?:error"|response|message_start)|"candidates"|^event: ?error/m;

function firstChoice(value: unknown): Record<string, unknown> | undefined {
  const choice = isJsonObject(value) && Array.isArray(value.choices) ? value.choices[0] : undefined;
  return isJsonObject(choice) ? choice : undefined;
}

function brokenEvent(message: string): string {
  return errorEvent(message, BROKEN_REPLY);
}

function errorEvent(message: string, type: string): string {
  return eventWith(JSON.stringify({ error: { message, type } }));
}

/** An error in the one form that the package reads. */
function toldEvent(error: unknown): string {
  const { message, type, code } = isJsonObject(error) ? error : { message: error };
  const written = {
    message: typeof message === "string" ? message : jsonText(message ?? error),
    ...(typeof type === "string" && type !== "error" && { type }),
    ...((typeof code === "string" || typeof code === "number") && { code }),
  };
  return eventWith(JSON.stringify({ error: written }));
}

/** Why the reply ended, if it did; servers write `null` or nothing at all until then, some an empty text. */
function finishReasonOf({ finish_reason: reason }: Record<string, unknown>): string | undefined {
  return typeof reason === "string" && reason !== "" ? reason : undefined;
}
