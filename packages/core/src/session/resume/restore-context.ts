import { ContextLog, splitCarried } from "../../engine/context-log.ts";
import { isCommit } from "../../engine/next-input.ts";
import { RookeryError } from "../../errors/rookery-error.ts";
import { eventMessage } from "../../omnimessage/build.ts";
import { isCompleteModelMessage, isSessionMeta, isType } from "../../omnimessage/guards.ts";
import type { OmniMessage, SessionMetaPayload, ToolDefinition } from "../../omnimessage/message.ts";
import { repairPairs } from "./repair-pairs.ts";

/** A model context as its trace file leaves it, whatever moment the writer died at. */
export interface RestoredContext {
  readonly meta: SessionMetaPayload;
  /** What the model was sent and what it answered, of committed requests alone; every call has its output. */
  readonly history: readonly OmniMessage[];
  /** What the next request depends on. */
  readonly log: ContextLog;
  /** The tools that were announced last; absent when none were. */
  readonly tools?: readonly ToolDefinition[];
}

/** Follows the records of one context to the state it is in: the same messages that the live session would go on with. */
export class ContextReplay {
  readonly #file: string;
  readonly #history: OmniMessage[] = [];
  #meta: SessionMetaPayload | undefined;
  #tools: readonly ToolDefinition[] | undefined;
  #log = new ContextLog();
  /** Carried records that are still to come. */
  #carried = 0;
  #request: { readonly input: readonly OmniMessage[]; readonly reply: OmniMessage[] } | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** A line that cannot be read: it counts where lines are counted. */
  skip(): void {
    if (this.#carried > 0) this.#carry(undefined);
  }

  add(message: OmniMessage): void {
    if (isSessionMeta(message)) this.#begin(message.payload);
    else if (this.#carried > 0) this.#carry(message);
    else this.#follow(message);
  }

  /** @throws {RookeryError} `trace-corrupt` when there was no `session_meta`. */
  end(): RestoredContext {
    if (this.#meta === undefined) throw withoutMeta(this.#file);
    return {
      meta: this.#meta,
      history: repairPairs(this.#history),
      log: this.#log,
      ...(this.#tools && { tools: this.#tools }),
    };
  }

  #follow(message: OmniMessage): void {
    if (isType(message, "tool_list_ready")) this.#tools = message.payload.tools;
    if (belongsToRequest(message)) this.#openRequest();
    if (isType(message, "request_begin")) this.#request = { input: this.#log.nextInput(), reply: [] };
    this.#log.add(withoutDetails(message));
    if (isReplyPart(message)) this.#request?.reply.push(message);
    if (isType(message, "request_end")) this.#endRequest(isCommit(message));
  }

  #begin(meta: SessionMetaPayload): void {
    if (this.#meta !== undefined) return;
    this.#meta = meta;
    this.#carried = meta.carried ?? 0;
  }

  /** What ends in the words of the user is the beginning of the first request, as in the live session. */
  #carry(message: OmniMessage | undefined): void {
    this.#carried -= 1;
    if (message && isCompleteModelMessage(message)) this.#history.push(withoutDetails(message));
    if (this.#carried > 0) return;
    const { history, opening } = splitCarried(repairPairs(this.#history.splice(0), true));
    this.#history.push(...history);
    this.#log = new ContextLog(opening);
  }

  /** The record of a request's beginning may be lost; without one its reply would count as that of the one before. */
  #openRequest(): void {
    if (this.#request) return;
    const begin = eventMessage({ type: "request_begin" });
    this.#request = { input: this.#log.nextInput(), reply: [] };
    this.#log.add(begin);
  }

  #endRequest(committed: boolean): void {
    const request = this.#request;
    this.#request = undefined;
    if (!committed || !request) return;
    for (const message of [...request.input, ...request.reply]) this.#history.push(message);
  }
}

/** Of the model's own messages and the end of a request, which nothing but a request has. */
function belongsToRequest(message: OmniMessage): boolean {
  return isReplyPart(message) || isType(message, "request_end");
}

function isReplyPart(message: OmniMessage): boolean {
  return isCompleteModelMessage(message) && message.payload.role === "assistant";
}

/** What is for people and programs is never sent, and may be many times as long as what is. */
function withoutDetails(message: OmniMessage): OmniMessage {
  if (!isType(message, "tool_call_output") || message.payload.details === undefined) return message;
  const { details: _, ...payload } = message.payload;
  return { ...message, payload };
}

function withoutMeta(file: string): RookeryError {
  return new RookeryError("trace-corrupt", `${file} cannot be resumed: it does not begin with a session_meta`, {
    hint: "its records can still be read with rookery sessions show; start a new session",
  });
}
