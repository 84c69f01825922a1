import { parseJson } from "../json-value.ts";
import { plainText } from "../provider-failure.ts";

/**
 * What a protocol does to the events of one stream before its package reads them. Texts are latin1, which keeps each byte
 * as it is.
 */
export interface EventMender {
  /** Whole events that arrived together, each with its blank line; returns what takes their place. */
  mend(events: string): string;
  /**
   * The stream is over: `rest` is an event without its blank line, or nothing, or the whole of a body that does not begin as
   * events do (JSON, a page). Returns what takes its place and ends the stream.
   */
  end(rest: string): string;
  /** The end marker of the reply went by: however the connection ends now, the reply is whole. */
  readonly finished: boolean;
  /** Nothing behind this belongs to the reply: the stream is closed, though the server keep the connection open. */
  readonly done: boolean;
  /** An event that says that the reply broke off, for this protocol's package. */
  broken(message: string): string;
}

/**
 * Mends a stream of server-sent events on its way to the package that reads them.
 *
 * Behind the reply's end marker the rest of the stream is waited for two seconds in all, and a connection that breaks there
 * is as good as one that ends. A stream with an event of more than 64 MiB is given up.
 *
 * @param onBytes - Called whenever bytes arrive, those of comments and of half an event too.
 */
export function mendStream(
  body: ReadableStream<Uint8Array>,
  mender: EventMender,
  onBytes?: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const splitter = new EventSplitter(mender);
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
          const mended = step.done ? splitter.end() : splitter.push(step.value);
          if (mended.length > 0) controller.enqueue(mended);
          if (step.done || splitter.done) {
            controller.close();
            if (step === ENDED || splitter.tooLong) reader.cancel().catch(() => undefined);
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

/** The events of `text`, each with its blank line. */
export function splitEvents(text: string): string[] {
  return text.split(EVENT_ENDS);
}

/** What is left of a stream, as an event that may lack its blank line: a body that is one JSON object is the data of one. */
export function lastEvent(rest: string): string {
  return /^\s*\{/.test(rest) ? `data: ${rest.replace(/[\r\n]+/g, " ")}` : rest;
}

/** The first character that is neither white space nor of a byte order mark. */
export function firstCharacter(text: string): string | undefined {
  return /[^\s\xef\xbb\xbf]/.exec(text)?.[0];
}

/** The data of an event, its lines joined, as it was meant. */
export function dataOf(event: string): string {
  const lines = event.split(/\r\n|\n|\r/).map((line) => line.replace(BYTE_ORDER_MARK, ""));
  const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).replace(/^ /, ""));
  return Buffer.from(data.join("\n"), "latin1").toString();
}

/** An event with this text as its data, on one line. */
export function eventWith(data: string, name?: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${Buffer.from(data).toString("latin1")}\n\n`;
}

/**
 * What to tell of a body that is no stream but a page or other JSON, such as comes from a wrong address; `undefined` for any
 * other text. It stands in an error of the type {@link NO_REPLY}, which is final.
 */
export function notAStream(text: string): string | undefined {
  const body = Buffer.from(text, "latin1")
    .toString()
    .replace(/^\uFEFF/, "")
    .trim();
  const isPage = body.startsWith("<");
  if (!isPage && !(/^[[{]/.test(body) && parseJson(body) !== undefined)) return undefined;
  const words = cut(plainText(body).replace(/\s+/g, " "));
  return `the server answered with ${isPage ? "a web page" : "JSON that is no reply"} (${words}); check the base URL`;
}

/** The type of an error over an answer that is no reply of the protocol. */
export const NO_REPLY = "unsupported_protocol";

/** The beginning of a text that goes into an error. */
export function cut(text: string): string {
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS - 1)}…` : text;
}

const MAX_SHOWN_CHARACTERS = 200;

const ENDED = { done: true, value: undefined } as const;
const FINISHED_MS = 2000;

function endAfter(ms: number): Promise<typeof ENDED> {
  return new Promise((resolve) => setTimeout(() => resolve(ENDED), ms).unref());
}

/** Reads what little may follow the end, so that the connection can be used again; gives up after a second. */
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

/** Puts the bytes of a stream together to whole events. */
class EventSplitter {
  readonly #mender: EventMender;
  /** What has come of an event that is not whole, and its last two characters. */
  #pending: string[] = [];
  #pendingBytes = 0;
  #tail = "";
  /** The body is one text and has no events; unknown until it begins. */
  #isText: boolean | undefined;
  /** An event had no end. */
  tooLong = false;

  constructor(mender: EventMender) {
    this.#mender = mender;
  }

  get done(): boolean {
    return this.tooLong || this.#mender.done;
  }

  push(bytes: Uint8Array): Uint8Array {
    const chunk = latin1(bytes);
    this.#isText ??= isText(chunk);
    const end = this.#isText ? 0 : lastBoundary(this.#tail + chunk) - this.#tail.length;
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
    const mended = this.#mender.mend(events);
    return untouched && mended === events ? bytes : toBytes(mended);
  }

  end(): Uint8Array {
    return toBytes(this.#mender.end(this.#pending.join("")));
  }

  #giveUp(): Uint8Array {
    this.tooLong = true;
    this.#pending = [];
    return this.#mender.finished
      ? NOTHING
      : toBytes(this.#mender.broken("an event of the reply is longer than 64 MiB"));
  }
}

const NOTHING = new Uint8Array();
const MAX_EVENT_BYTES = 64 * 2 ** 20;
const EVENT_ENDS = /(?<=\n\r?\n|\r\r)/;

function isText(chunk: string): boolean | undefined {
  const first = firstCharacter(chunk);
  return first === undefined ? undefined : /[<{[]/.test(first);
}

/** Where the last whole event ends; 0 where none does. */
function lastBoundary(text: string): number {
  return Math.max(
    0,
    ...BLANK_LINES.map((blank) => (text.includes(blank) ? text.lastIndexOf(blank) + blank.length : 0)),
  );
}

const BLANK_LINES = ["\n\n", "\n\r\n", "\r\r"];

/** U+FEFF in UTF-8, as it stands in latin1 text. */
const BYTE_ORDER_MARK = /^\xef\xbb\xbf/;

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

function toBytes(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}
