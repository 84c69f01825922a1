import { isSessionMeta, isType } from "../../omnimessage/guards.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import { isOnRecord } from "../../omnimessage/on-record.ts";
import type { Report, RuleChecker, RuleScope } from "./rule.ts";

/** Rule 7: what is only recorded is not streamed. Rule 8: what only the model reads is in neither stream nor trace. */
export class PlaceRules implements RuleChecker {
  readonly #report: Report;
  readonly #scope: RuleScope;
  #compacting = false;
  /** How many of the next records only carry the history on, which such notes are a part of once they were sent. */
  #carried = 0;

  constructor(report: Report, scope: RuleScope) {
    this.#report = report;
    this.#scope = scope;
  }

  see(message: OmniMessage, at: number): void {
    if (isSessionMeta(message)) this.#carried = message.payload.carried ?? 0;
    else if (this.#carried > 0) this.#carried -= 1;
    else if (isSynthetic(message)) this.#report(8, at, "a note for the model only is on record");
    if (this.#scope.trace) return;
    if (isType(message, "compaction_begin")) this.#compacting = true;
    if (isType(message, "compaction_end")) this.#compacting = false;
    if (message.type === "session_meta" && !this.#scope.child) this.#report(7, at, "session_meta is streamed");
    if (isType(message, "subagent")) this.#report(7, at, "subagent is streamed");
    if (this.#compacting && isInsideOfCompaction(message)) {
      this.#report(7, at, `${message.payload.type} is streamed from inside a compaction`);
    }
  }
}

/** Rule 7: what a stream shares with its trace stands in the trace in the same order. */
export function checkOrder(stream: readonly OmniMessage[], trace: readonly OmniMessage[], report: Report): void {
  const placesOf = new Map<string, number[]>();
  for (const [at, message] of trace.entries()) {
    const places = placesOf.get(content(message));
    if (places === undefined) placesOf.set(content(message), [at]);
    else places.push(at);
  }
  let next = 0;
  for (const [at, message] of stream.entries()) {
    if (!isOnRecord(message) || message.type === "session_meta") continue;
    const places = placesOf.get(content(message)) ?? [];
    const found = places.find((place) => place >= next);
    if (found !== undefined) next = found + 1;
    else report(7, at, `${message.payload.type} is ${places.length > 0 ? "at another place" : "not"} in the trace`);
  }
}

function content({ type, payload }: OmniMessage): string {
  return JSON.stringify([type, payload]);
}

/** Readers also know an older spelling in angle brackets. */
function isSynthetic(message: OmniMessage): boolean {
  if (!isType(message, "text") || message.payload.role !== "user") return false;
  return /^[[<](turn_aborted|turn_retried)[\]>]/.test(message.payload.text);
}

/** True for what a compaction records and does not stream: everything of its request but the summary's text and usage. */
function isInsideOfCompaction(message: OmniMessage): boolean {
  if (isType(message, "request_begin") || isType(message, "request_end")) return true;
  if (isType(message, "text")) return message.payload.role === "user";
  return message.type === "model_msg" && !isType(message, "partial_text");
}
