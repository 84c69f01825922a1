import { isJsonObject, parseJson } from "../../json-value.ts";
import { dataOf, type EventMender, eventWith, mendStream, splitEvents } from "../event-stream.ts";
import { BROKEN_REPLY } from "../provider.ts";
import { arrayAsEvents } from "./array-as-events.ts";
import { errorType } from "./error-answer.ts";
import { isUnreadable, joinParts, type ReplyPart, readPart } from "./reply-parts.ts";

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
    return (
      last + (this.#ending ? written(this.#ending, this.#usage) : this.broken("the reply ended without its end marker"))
    );
  }

  broken(message: string): string {
    return failed({ message, type: BROKEN_REPLY });
  }

  /** The parts of an event; an event that is none, as it is to go on. */
  #read(event: string): (ReplyPart | string)[] {
    const data = dataOf(event);
    if (this.done || data === "" || data === "[DONE]") return [];
    const value = parseJson(data);
    if (!isJsonObject(value)) return value === undefined && !this.finished ? [event] : [];
    const failure = this.finished ? undefined : this.#failureIn(value);
    if (failure !== undefined) {
      this.done = true;
      return [failure];
    }
    const { content, finishReason, continuationToken } = candidateOf(value);
    const reason = reasonOf(finishReason);
    if (reason !== undefined) {
      this.#ending = {
        finishReason: PLAIN_REASONS[reason] ?? reason,
        ...(typeof continuationToken === "string" && { continuationToken }),
      };
    }
    Object.assign(this.#usage, countsIn(value.usageMetadata));
    return partsOf(content).flatMap(readPart);
  }

  #failureIn(value: Record<string, unknown>): string | undefined {
    const { error, promptFeedback } = value;
    if (isJsonObject(error)) {
      return failed({ message: error.message, type: errorType(error) ?? error.status, code: error.code });
    }
    if (error) return failed(error);
    const { blockReason, blockReasonMessage } = isJsonObject(promptFeedback) ? promptFeedback : {};
    const blocked = reasonOf(blockReason);
    if (blocked !== undefined) {
      return failed({
        message: `the prompt was blocked (${told(blocked, blockReasonMessage)})`,
        type: "content_filter",
      });
    }
    const { content, finishReason, finishMessage } = candidateOf(value);
    if (partsOf(content).some(isUnreadable)) return this.broken("a piece of a call cannot be read");
    const reason = reasonOf(finishReason);
    if (reason === "MISSING_THOUGHT_SIGNATURE") {
      return failed({
        message: `a thought signature is missing (${told(reason, finishMessage)})`,
        type: "invalid_request",
      });
    }
    if (reason === undefined || !GAVE_UP.has(reason)) return undefined;
    return this.broken(`the provider gave the reply up (${told(reason, finishMessage)})`);
  }
}

/** Finish reasons of replies that the service could not read itself. */
const GAVE_UP: ReadonlySet<string> = new Set(["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"]);

/** Reasons that the package does not know, by those it does. */
const PLAIN_REASONS: Readonly<Record<string, string>> = {
  IMAGE_PROHIBITED_CONTENT: "PROHIBITED_CONTENT",
  IMAGE_RECITATION: "RECITATION",
};

function candidateOf({ candidates }: Record<string, unknown>): Record<string, unknown> {
  const first: unknown = Array.isArray(candidates) ? candidates[0] : undefined;
  return isJsonObject(first) ? first : {};
}

function partsOf(content: unknown): Record<string, unknown>[] {
  return isJsonObject(content) && Array.isArray(content.parts) ? content.parts.filter(isJsonObject) : [];
}

/** A reason, if one is given: the default of the protocol says none. */
function reasonOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && !value.endsWith("_UNSPECIFIED") ? value : undefined;
}

function told(reason: string, message: unknown): string {
  return typeof message === "string" && message !== "" ? `${reason}: ${message}` : reason;
}

function countsIn(usage: unknown): Record<string, number> {
  const counts = Object.entries(isJsonObject(usage) ? usage : {});
  return Object.fromEntries(counts.filter((count): count is [string, number] => typeof count[1] === "number"));
}

function written(candidate: object, usageMetadata?: object): string {
  return eventWith(JSON.stringify({ candidates: [candidate], ...(usageMetadata && { usageMetadata }) }));
}

/** The package does not know this form of an error, and hands it on as it is. */
function failed(error: unknown): string {
  return eventWith(JSON.stringify({ error }));
}
