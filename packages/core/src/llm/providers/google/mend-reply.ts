import { isJsonObject, parseJson } from "../../json-value.ts";
import { dataOf, type EventMender, eventWith, mendStream, NO_REPLY, notAStream, splitEvents } from "../event-stream.ts";
import { isLimit } from "../limit-words.ts";
import { arrayAsEvents } from "./array-as-events.ts";
import { candidateOf, isOwn, partsOf, reasonOf } from "./reply-event.ts";
import { broken, failed, failureIn } from "./reply-failure.ts";
import { joinParts, type ReplyPart, readPart } from "./reply-parts.ts";

/**
 * Mends the stream of a reply on its way to the package that reads it; see {@link mendStream}.
 *
 * Every part goes on in an event of its own, in its place, since the package reads all texts of an event before its
 * calls; texts that arrived together are joined. Whatever else an event holds stays behind, except the reason of the end
 * and the counts of tokens: these come last, as they were when the stream ended. A stream without a reason ends with an
 * error event, and so does one whose prompt was blocked or whose reply the service gave up.
 */
export function mendReply(body: ReadableStream<Uint8Array>, onBytes?: () => void): ReadableStream<Uint8Array> {
  return mendStream(arrayAsEvents(body), new ReplyMender(), onBytes);
}

class ReplyMender implements EventMender {
  /** What the candidate said of its end. */
  #ending: Record<string, unknown> | undefined;
  #usage: Record<string, number> = {};
  /** Events that are none of this protocol, as latin1 text; `undefined` once one is. */
  #strange: string[] | undefined = [];
  /** The reply has failed. */
  done = false;

  get finished(): boolean {
    return this.#ending !== undefined;
  }

  mend(events: string): string {
    const pieces = splitEvents(events).flatMap((event) => this.#read(event));
    return joinParts(pieces)
      .map((piece) => (typeof piece === "string" ? piece : written({ content: { parts: [piece] } })))
      .join("");
  }

  /** The last event may lack its blank line; half an event is dropped. */
  end(rest: string): string {
    const last = parseJson(dataOf(rest)) === undefined ? "" : this.mend(rest);
    if (this.done) return last;
    return last + (this.#ending ? written(this.#ending, this.#usage) : this.#noReply(rest));
  }

  broken(message: string): string {
    return broken(message);
  }

  #noReply(rest: string): string {
    const [only = rest, ...more] = this.#strange ?? [];
    const words = more.length > 0 ? undefined : notAStream(only);
    return words === undefined
      ? broken("the reply ended without its end marker")
      : failed({ message: words, type: NO_REPLY });
  }

  /** The parts of an event; an event that is none, as it is to go on. */
  #read(event: string): (ReplyPart | string)[] {
    const data = dataOf(event);
    if (this.done || data === "" || data === "[DONE]") return [];
    const value = parseJson(data);
    if (!isJsonObject(value)) return value === undefined && !this.finished ? [event] : [];
    if (isOwn(value)) this.#strange = undefined;
    else this.#strange?.push(Buffer.from(data).toString("latin1"));
    const failure = this.finished ? undefined : failureIn(value);
    if (failure !== undefined) {
      this.done = true;
      return [failure];
    }
    const { content, finishReason, continuationToken } = candidateOf(value);
    const reason = reasonOf(finishReason);
    if (reason !== undefined) {
      this.#ending = {
        finishReason: isLimit(reason) ? "MAX_TOKENS" : (PLAIN_REASONS[reason] ?? reason),
        ...(typeof continuationToken === "string" && { continuationToken }),
      };
    }
    Object.assign(this.#usage, countsIn(value.usageMetadata));
    return partsOf(content).flatMap(readPart);
  }
}

/** Reasons that the package does not know, by those it does. */
const PLAIN_REASONS: Readonly<Record<string, string>> = {
  IMAGE_PROHIBITED_CONTENT: "PROHIBITED_CONTENT",
  IMAGE_RECITATION: "RECITATION",
};

function countsIn(usage: unknown): Record<string, number> {
  const counts = Object.entries(isJsonObject(usage) ? usage : {});
  return Object.fromEntries(counts.filter((count): count is [string, number] => typeof count[1] === "number"));
}

function written(candidate: object, usageMetadata?: object): string {
  return eventWith(JSON.stringify({ candidates: [candidate], ...(usageMetadata && { usageMetadata }) }));
}
