import { ContextLog, withoutDetails } from "../../engine/context-log.ts";
import { RookeryError } from "../../errors/rookery-error.ts";
import { isCompleteModelMessage, isSessionMeta, isType } from "../../omnimessage/guards.ts";
import type { OmniMessage, SessionMetaPayload, ToolDefinition } from "../../omnimessage/message.ts";
import { repairPairs } from "./repair-pairs.ts";

/** A model context as its trace file leaves it, whatever moment the writer died at. */
export interface RestoredContext {
  readonly meta: SessionMetaPayload;
  readonly log: ContextLog;
  /** The tools that were announced last; absent when none were. */
  readonly tools?: readonly ToolDefinition[];
}

/** Follows the records of one context file to the state it is in. */
export class ContextReplay {
  readonly #file: string;
  #meta: SessionMetaPayload | undefined;
  #tools: readonly ToolDefinition[] | undefined;
  readonly #carried: OmniMessage[] = [];
  /** Carried records that are still to come. */
  #toCarry = 0;
  #log = new ContextLog();
  /** Of the first line that could not be read. */
  #headProblem: string | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** A line that cannot be read, and why: it counts where lines are counted. */
  skip(problem: string): void {
    this.#headProblem ??= problem;
    if (this.#toCarry > 0) this.#carry(undefined);
  }

  add(message: OmniMessage): void {
    if (isSessionMeta(message)) this.#begin(message.payload);
    else if (this.#toCarry > 0) this.#carry(message);
    else {
      if (isType(message, "tool_list_ready")) this.#tools = message.payload.tools;
      this.#log.add(message);
    }
  }

  /** @throws {RookeryError} `trace-corrupt` when there was no `session_meta`. */
  end(): RestoredContext {
    if (this.#meta !== undefined)
      return { meta: this.#meta, log: this.#log, ...(this.#tools && { tools: this.#tools }) };
    const why = this.#headProblem === undefined ? "" : `; ${this.#headProblem}`;
    const what = `${this.#file} cannot be resumed: it does not begin with a session_meta${why}`;
    throw new RookeryError("trace-corrupt", what, {
      hint: "its records can still be read with rookery sessions show; start a new session",
    });
  }

  #begin(meta: SessionMetaPayload): void {
    if (this.#meta !== undefined) return;
    this.#meta = meta;
    this.#toCarry = meta.carried ?? 0;
  }

  #carry(message: OmniMessage | undefined): void {
    this.#toCarry -= 1;
    if (message && isCompleteModelMessage(message)) this.#carried.push(withoutDetails(message));
    if (this.#toCarry === 0) this.#log = new ContextLog(repairPairs(this.#carried));
  }
}
