import { isJsonObject, parseJson } from "../../json-value.ts";
import {
  cut,
  dataOf,
  type EventMender,
  eventWith,
  lastEvent,
  NO_REPLY,
  notAStream,
  splitEvents,
} from "../event-stream.ts";
import { foreignReply } from "../foreign-reply.ts";
import { isLimit } from "../limit-words.ts";
import { joinDeltas } from "./join-deltas.ts";
import { BlockMender, type WireEvent } from "./mend-blocks.ts";
import { ThinkingFirst } from "./thinking-first.ts";
import { eventsOf } from "./whole-message.ts";
import { brokenEvent, errorEvent, failure } from "./wire-error.ts";

/**
 * Mends the events of one reply on their way to the package that reads them.
 *
 * Blocks are mended by {@link BlockMender} and ordered by {@link ThinkingFirst}. Usage is gathered over all events, since
 * servers spread it and count down to zero at the end. Events that the package does not know are left out, since it takes
 * them for failures.
 *
 * With a reason to stop the reply is complete, whatever comes and however the connection ends, and it ends at `message_stop`.
 * A stream that ends without either ends with an error event, before the package closes its segments as if they were whole.
 * A body that is one message is read as a reply that came at once.
 */
export class MessagesMender implements EventMender {
  readonly #blocks = new BlockMender();
  readonly #order = new ThinkingFirst();
  #usage: Readonly<Record<string, number>> = {};
  #stopReason: string | undefined;
  /** `message_stop` went by. */
  done = false;

  get finished(): boolean {
    return this.#stopReason !== undefined;
  }

  mend(events: string): string {
    return this.#write(splitEvents(events).flatMap((event) => this.#mend(event)));
  }

  /** The last event may lack its blank line; half an event is dropped. */
  end(rest: string): string {
    const event = lastEvent(rest);
    const last = parseJson(dataOf(event)) === undefined ? [] : this.#mend(event);
    const failed = last.some(({ type }) => type === "error");
    return this.#write(failed ? last : [...last, ...this.#end(rest)]);
  }

  broken(message: string): string {
    return this.#write([brokenEvent(message)]);
  }

  #end(rest: string): WireEvent[] {
    if (this.done) return [];
    if (this.finished) return this.#stop();
    const words = notAStream(rest);
    return [words === undefined ? brokenEvent("the reply ended without its end marker") : failure(NO_REPLY, words)];
  }

  #mend(event: string): WireEvent[] {
    const data = dataOf(event).trim();
    if (this.done || data === "" || data === "[DONE]") return [];
    const value = parseJson(data);
    const name = /^event:\s*(.*)/m.exec(event)?.[1]?.trim();
    if (value === undefined) {
      return this.finished || isUnknown(name) ? [] : [brokenEvent(`an event of the reply is not JSON: ${cut(data)}`)];
    }
    if (!isJsonObject(value)) return [];
    if (value.type === "error" || value.error) return this.finished ? [] : [errorEvent(value)];
    return this.#mendValue(value.type ?? name, value);
  }

  #mendValue(type: unknown, value: Readonly<Record<string, unknown>>): WireEvent[] {
    const index = typeof value.index === "number" ? value.index : 0;
    switch (type) {
      case "message_start":
        return [this.#begin(value.message)];
      case "content_block_start":
        return isJsonObject(value.content_block) ? this.#blocks.start(index, value.content_block) : [];
      case "content_block_delta":
        return isJsonObject(value.delta) ? this.#blocks.delta(index, value.delta) : [];
      case "content_block_stop":
        return this.#blocks.stop(index);
      case "message_delta":
        return [this.#count(value)];
      case "message_stop":
        return this.#stop();
      default:
        return this.#mendOther(value);
    }
  }

  #mendOther(value: Readonly<Record<string, unknown>>): WireEvent[] {
    if (value.type === "message" && Array.isArray(value.content)) {
      return eventsOf(value).flatMap((event) => this.#mendValue(event.type, event));
    }
    const words = this.finished ? undefined : foreignReply(value);
    return words === undefined ? [] : [failure(NO_REPLY, words)];
  }

  #begin(message: unknown): WireEvent {
    this.#usage = isJsonObject(message) ? counts(message.usage) : {};
    return { type: "message_start", message: { usage: { input_tokens: 0, ...this.#usage } } };
  }

  #count({ delta, usage }: Readonly<Record<string, unknown>>): WireEvent {
    const reason = isJsonObject(delta) ? delta.stop_reason : undefined;
    if (typeof reason === "string" && reason !== "") this.#stopReason = isLimit(reason) ? "max_tokens" : reason;
    this.#usage = { ...this.#usage, ...counts(usage) };
    const stopReason = this.#stopReason ?? null;
    return { type: "message_delta", delta: { stop_reason: stopReason }, usage: { output_tokens: 0, ...this.#usage } };
  }

  #stop(): WireEvent[] {
    this.done = true;
    return [...this.#blocks.stopAll(), { type: "message_stop" }];
  }

  #write(events: readonly WireEvent[]): string {
    return joinDeltas(events.flatMap((event) => this.#order.pass(event)))
      .map((event) => eventWith(JSON.stringify(event)))
      .join("");
  }
}

const COUNTS = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];

function counts(usage: unknown): Record<string, number> {
  if (!isJsonObject(usage)) return {};
  const found = COUNTS.map((name): [string, unknown] => [name, usage[name]]);
  return Object.fromEntries(
    found.filter((entry): entry is [string, number] => Number(entry[1]) > 0 && typeof entry[1] === "number"),
  );
}

/** The name of an event that is no part of a reply: a heartbeat, with whatever data. */
function isUnknown(name: string | undefined): boolean {
  return name !== undefined && name !== "message" && !/^(message|content_block)_|^error$/.test(name);
}
