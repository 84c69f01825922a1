import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import { place, type Report, type RuleChecker, type RuleScope } from "./rule.ts";

/**
 * Rule 4: `token_usage` is the model's last message, and `request_end` follows it. Rule 5: a request is committed if and
 * only if it completed, so that one that did not has no usage.
 */
export class RequestRules implements RuleChecker {
  readonly #report: Report;
  readonly #scope: RuleScope;
  #request: { readonly at: number; usageAt?: number } | undefined;
  #compacting = false;

  constructor(report: Report, scope: RuleScope) {
    this.#report = report;
    this.#scope = scope;
  }

  see(message: OmniMessage, at: number): void {
    if (isType(message, "compaction_begin")) this.#compacting = true;
    if (isType(message, "compaction_end")) this.#compacting = false;
    if (isType(message, "request_begin")) this.#begin(at);
    // Usage with a source is what a tool or a child spent, and no part of a reply.
    if (isType(message, "token_usage") && message.payload.source === undefined) this.#seeUsage(at);
    if (message.type === "model_msg" && !isOutput(message)) this.#checkNoUsageYet(message.payload.type, at);
    if (isType(message, "request_end")) this.#end(message.payload.status, at);
    if (isType(message, "abort")) this.#checkEnded("abort comes", at);
  }

  end(): void {
    if (this.#request !== undefined) this.#report(4, this.#request.at, "the last request_begin has no request_end");
  }

  #begin(at: number): void {
    const killed = this.#scope.trace && this.#scope.open;
    if (!killed) this.#checkEnded("request_begin comes", at);
    this.#request = { at };
  }

  #checkEnded(what: string, at: number): void {
    if (this.#request === undefined) return;
    this.#report(4, at, `${what} before the request_end of the request that began at ${place(this.#request.at)}`);
    this.#request = undefined;
  }

  #seeUsage(at: number): void {
    if (this.#request === undefined) {
      // A stream shows of a compaction's request its text and usage only.
      if (!this.#compacting) this.#report(4, at, "token_usage outside a request");
      return;
    }
    if (this.#request.usageAt !== undefined) this.#report(4, at, "a second token_usage in one request");
    this.#request.usageAt = at;
  }

  #checkNoUsageYet(type: string | undefined, at: number): void {
    if (this.#request?.usageAt === undefined) return;
    this.#report(4, at, `${type} comes between token_usage and request_end`);
  }

  #end(status: string, at: number): void {
    const request = this.#request;
    this.#request = undefined;
    if (request === undefined) {
      this.#report(4, at, "request_end without a request_begin");
    } else if (status === "completed" && request.usageAt === undefined) {
      this.#report(4, at, "a completed request has no token_usage before its request_end");
    } else if (status !== "completed" && request.usageAt !== undefined) {
      this.#report(5, at, `token_usage in a request that ended ${status}`);
    }
  }
}

/** True for what comes from a tool; it may arrive at any moment of a request. */
function isOutput(message: OmniMessage): boolean {
  return isType(message, "partial_tool_call_output") || isType(message, "tool_call_output");
}
