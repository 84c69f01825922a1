import { isJsonObject } from "../../json-value.ts";
import { eventWith, NO_REPLY } from "../event-stream.ts";
import { foreignReply } from "../foreign-reply.ts";
import { BROKEN_REPLY } from "../provider.ts";
import { errorType } from "./error-answer.ts";
import { candidateOf, isOwn, partsOf, reasonOf } from "./reply-event.ts";
import { isUnreadable } from "./reply-parts.ts";

/** The error event in place of an event that says that there is no reply, or none that can be read. */
export function failureIn(event: Readonly<Record<string, unknown>>): string | undefined {
  const { error } = event;
  if (isJsonObject(error)) {
    const { message, status, code, details } = error;
    return failed({ message, type: errorType(error) ?? status, code, details });
  }
  if (error) return failed(error);
  const foreign = isOwn(event) ? undefined : foreignReply(event);
  return foreign === undefined ? (blocked(event) ?? givenUp(event)) : failed({ message: foreign, type: NO_REPLY });
}

/** An error event. The package does not know this form, and hands the error on as it is. */
export function failed(error: unknown): string {
  return eventWith(JSON.stringify({ error }));
}

/** An error event that says that the reply broke off. */
export function broken(message: string): string {
  return failed({ message, type: BROKEN_REPLY });
}

function blocked({ promptFeedback }: Readonly<Record<string, unknown>>): string | undefined {
  const { blockReason, blockReasonMessage } = isJsonObject(promptFeedback) ? promptFeedback : {};
  const reason = reasonOf(blockReason);
  if (reason === undefined) return undefined;
  return failed({ message: `the prompt was blocked (${told(reason, blockReasonMessage)})`, type: "content_filter" });
}

function givenUp(event: Readonly<Record<string, unknown>>): string | undefined {
  const { content, finishReason, finishMessage } = candidateOf(event);
  if (partsOf(content).some(isUnreadable)) return broken("a piece of a call cannot be read");
  const reason = reasonOf(finishReason);
  if (reason === "MISSING_THOUGHT_SIGNATURE") {
    return failed({
      message: `a thought signature is missing (${told(reason, finishMessage)})`,
      type: "invalid_request",
    });
  }
  if (reason === undefined || !GAVE_UP.has(reason)) return undefined;
  return broken(`the provider gave the reply up (${told(reason, finishMessage)})`);
}

/** Finish reasons of replies that the service could not read itself. */
const GAVE_UP: ReadonlySet<string> = new Set(["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"]);

function told(reason: string, message: unknown): string {
  return typeof message === "string" && message !== "" ? `${reason}: ${message}` : reason;
}
