import { isSessionMeta, isType } from "../../omnimessage/guards.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import type { Report, RuleChecker, RuleScope } from "./rule.ts";

/**
 * Rule 2: a decision stands after its call and before any output of it. Rule 3: every call of a committed request gets
 * exactly one complete output before the next request and before the end.
 */
export class CallRules implements RuleChecker {
  readonly #report: Report;
  readonly #scope: RuleScope;
  readonly #calls = new Map<string, Call>();
  /** The calls of the request that is open. */
  #batch: Call[] = [];
  /** The committed calls that have no output yet. */
  readonly #owed = new Set<Call>();
  /** How many of the next records only carry the history on. */
  #carried = 0;

  constructor(report: Report, scope: RuleScope) {
    this.#report = report;
    this.#scope = scope;
  }

  see(message: OmniMessage, at: number): void {
    if (isSessionMeta(message)) {
      this.#carried = message.payload.carried ?? 0;
      return;
    }
    const carried = this.#carried > 0;
    if (carried) this.#carried -= 1;
    if (isType(message, "request_begin")) this.#beginRequest(at);
    if (isType(message, "request_end") && message.payload.status === "completed") this.#commit();
    if (isType(message, "tool_call")) this.#seeCall(message.payload.tool_call_id, at, carried);
    if (isType(message, "approval_decision")) this.#seeDecision(message.payload.tool_call_id, at);
    if (isType(message, "partial_tool_call_output")) this.#checkDecided(message.payload.tool_call_id, at);
    if (isType(message, "tool_call_output")) this.#seeOutput(message.payload.tool_call_id, at);
  }

  end(): void {
    for (const call of this.#owed) this.#report(3, call.at, `the committed call ${call.id} has no output`);
  }

  #beginRequest(at: number): void {
    const killed = this.#scope.trace && this.#scope.open;
    for (const call of killed ? [] : this.#owed) {
      this.#report(3, at, `the next request begins while the committed call ${call.id} has no output`);
    }
    this.#owed.clear();
    this.#batch = [];
  }

  #commit(): void {
    for (const call of this.#batch) if (call.outputs === 0) this.#owed.add(call);
    this.#batch = [];
  }

  #seeCall(id: string, at: number, carried: boolean): void {
    if (id === "") this.#report(3, at, "a tool_call without an id");
    if (this.#calls.has(id) && !carried) this.#report(3, at, `the id ${id} is used by two calls`);
    // A carried call was decided in the context it comes from.
    const call: Call = { id, at, decisions: carried ? 1 : 0, outputs: 0, blamed: false };
    this.#calls.set(id, call);
    if (carried) this.#owed.add(call);
    else this.#batch.push(call);
  }

  #seeDecision(id: string, at: number): void {
    const call = this.#calls.get(id);
    if (call === undefined) {
      this.#report(2, at, `the approval_decision for ${id} comes before its tool_call`);
      return;
    }
    if (call.outputs > 0) this.#report(2, at, `the approval_decision for ${id} comes after its output`);
    call.decisions += 1;
    if (call.decisions > 1) this.#report(2, at, `a second approval_decision for ${id}`);
  }

  #checkDecided(id: string, at: number): void {
    const call = this.#calls.get(id);
    if (call === undefined || call.decisions > 0 || call.blamed) return;
    call.blamed = true;
    this.#report(2, at, `output of ${id} comes before its approval_decision`);
  }

  #seeOutput(id: string, at: number): void {
    const call = this.#calls.get(id);
    if (call === undefined) {
      this.#report(3, at, `the output of ${id} has no tool_call`);
      return;
    }
    this.#checkDecided(id, at);
    this.#owed.delete(call);
    call.outputs += 1;
    if (call.outputs > 1) this.#report(3, at, `a second output of ${id}`);
  }
}

interface Call {
  readonly id: string;
  readonly at: number;
  decisions: number;
  outputs: number;
  /** That its output came too early was said once. */
  blamed: boolean;
}
