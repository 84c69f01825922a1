import { isJsonObject, jsonText, parseJson } from "../../json-value.ts";
import { BROKEN_REPLY } from "../provider.ts";
import { ToolCallMender } from "./mend-tool-calls.ts";

/**
 * Mends a stream of chat-completion events on its way to the package that reads them.
 *
 * Events with tool calls are rewritten (see {@link ToolCallMender}); everything else passes through byte for byte. The
 * stream ends at `[DONE]`, though the server keep the connection open, and after a `finish_reason` it ends well however
 * the connection ends: the reply is complete then. A stream that ends without one, or with one that says that the server
 * gave up, ends with an error event, before the package closes its segments as if they were whole; so does one with an
 * event of more than 64 MiB. Behind a `finish_reason`, usage and the end are waited for two seconds in all. A body that
 * is one JSON object is read as a single event.
 *
 * @param watch.onBytes - Called whenever bytes arrive, those of comments and of half an event too.
 * @param watch.onToolCalls - Called with the mended pieces of calls.
 * @param watch.rewrite - The last to change whole events that arrive together, as latin1 text.
 */
export function mendEvents(body: ReadableStream<Uint8Array>, watch: EventWatch = {}): ReadableStream<Uint8Array> {
  const { onBytes } = watch;
  const reader = body.getReader();
  const mender = new EventMender(watch);
  let patience: Promise<typeof ENDED> | undefined;
  return new ReadableStream(
    {
      async pull(controller) {
        for (;;) {
          const reading = reader.read().catch((error: unknown) => {
            if (!mender.finished) throw error;
            return ENDED;
          });
          if (mender.finished) patience ??= endAfter(FINISHED_MS);
          const step = await (patience ? Promise.race([reading, patience]) : reading);
          if (!step.done) onBytes?.();
          const mended = step.done ? mender.end() : mender.push(step.value);
          if (mended.length > 0) controller.enqueue(mended);
          if (step.done || mender.done) {
            controller.close();
            if (step === ENDED || mender.tooLong) reader.cancel().catch(() => undefined);
            else if (!step.done) void drain(reader);
            return;
          }
          if (mended.length > 0) return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

export interface EventWatch {
  readonly onBytes?: (() => void) | undefined;
  readonly onToolCalls?: (pieces: readonly Record<string, unknown>[]) => void;
  readonly rewrite?: (events: string) => string;
}

const ENDED = { done: true, value: undefined } as const;
const FINISHED_MS = 2000;

function endAfter(ms: number): Promise<typeof ENDED> {
  return new Promise((resolve) => setTimeout(() => resolve(ENDED), ms).unref());
}

/** Reads what little may follow `[DONE]`, so that the connection can be used again; gives up after a second. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const impatience = setTimeout(() => void reader.cancel().catch(() => undefined), DRAIN_MS).unref();
  try {
    while (!(await reader.read()).done);
  } catch {
    // The reply was whole: how its connection ends concerns nobody.
  } finally {
    clearTimeout(impatience);
  }
}

const DRAIN_MS = 1000;

/** The events of one stream. Bytes are held as latin1 text, which keeps each of them. */
class EventMender {
  readonly #watch: EventWatch;
  readonly #toolCalls = new ToolCallMender();
  /** What has come of an event that is not whole, and its last two characters. */
  #pending: string[] = [];
  #pendingBytes = 0;
  #tail = "";
  /** An end marker of the reply went by. */
  finished = false;
  /** `[DONE]` went by. */
  done = false;
  /** An event had no end. */
  tooLong = false;

  constructor(watch: EventWatch) {
    this.#watch = watch;
  }

  push(bytes: Uint8Array): Uint8Array {
    const chunk = latin1(bytes);
    const end = lastBoundary(this.#tail + chunk) - this.#tail.length;
    if (end <= 0) {
      this.#pending.push(chunk);
      this.#pendingBytes += chunk.length;
      if (this.#pendingBytes > MAX_EVENT_BYTES) return this.#giveUp();
      this.#tail = (this.#tail + chunk).slice(-2);
      return NOTHING;
    }
    const events = this.#pending.join("") + chunk.slice(0, end);
    const untouched = this.#pending.length === 0 && end === chunk.length;
    const rest = chunk.slice(end);
    this.#pending = rest === "" ? [] : [rest];
    this.#pendingBytes = rest.length;
    this.#tail = rest.slice(-2);
    const isPlain = !NOTEWORTHY.test(events);
    const mended = isPlain
      ? events
      : events
          .split(EVENT_ENDS)
          .map((event) => this.#mend(event))
          .join("");
    const written = this.#watch.rewrite?.(mended) ?? mended;
    return untouched && written === events ? bytes : toBytes(written);
  }

  /** The last event may lack its blank line; half an event is dropped. */
  end(): Uint8Array {
    const text = this.#pending.join("");
    const rest = /^\s*\{/.test(text) ? `data: ${text.replace(/[\r\n]+/g, " ")}` : text;
    const data = dataOf(rest);
    const last = data === DONE || parseJson(data) !== undefined ? this.#mend(`${rest}\n\n`) : "";
    return toBytes(this.finished || this.done ? last : last + NO_END);
  }

  #giveUp(): Uint8Array {
    this.done = true;
    this.tooLong = true;
    this.#pending = [];
    return this.finished ? NOTHING : toBytes(brokenEvent("an event of the reply is longer than 64 MiB"));
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
    return mended === undefined ? event : `data: ${latin1(Buffer.from(mended))}\n\n`;
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

const NOTHING = new Uint8Array();
const MAX_EVENT_BYTES = 64 * 2 ** 20;
/** Finish reasons of servers that could not finish. */
const GAVE_UP: ReadonlySet<string> = new Set(["error", "insufficient_system_resource"]);
const NO_END = brokenEvent("the reply ended without its end marker");
const DONE = "[DONE]";
/** What an event must hold to be looked at. Inside strings of JSON these quotes would be escaped. */
const NOTEWORTHY = /"tool_calls"|"finish_reason"\s*:\s*"|\[DONE\]/;
const EVENT_ENDS = /(?<=\n\r?\n|\r\r)/;

function brokenEvent(message: string): string {
  return `data: ${JSON.stringify({ error: { message, type: BROKEN_REPLY } })}\n\n`;
}

/** Why the reply ended, if it did; servers write `null` or nothing at all until then, some an empty text. */
function finishReasonOf({ finish_reason: reason }: Record<string, unknown>): string | undefined {
  return typeof reason === "string" && reason !== "" ? reason : undefined;
}

/** Where the last whole event ends; 0 where none does. */
function lastBoundary(text: string): number {
  return Math.max(
    0,
    ...BLANK_LINES.map((blank) => (text.includes(blank) ? text.lastIndexOf(blank) + blank.length : 0)),
  );
}

const BLANK_LINES = ["\n\n", "\n\r\n", "\r\r"];

/** The data of an event, its lines joined, as it was meant. */
function dataOf(event: string): string {
  const lines = event.split(/\r\n|\n|\r/).map((line) => line.replace(BYTE_ORDER_MARK, ""));
  const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).replace(/^ /, ""));
  return Buffer.from(data.join("\n"), "latin1").toString();
}

/** U+FEFF in UTF-8, as it stands in latin1 text. */
const BYTE_ORDER_MARK = /^\xef\xbb\xbf/;

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

function toBytes(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}
