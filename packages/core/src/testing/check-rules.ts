import type { OmniMessage } from "../omnimessage/message.ts";
import { isOnRecord } from "../omnimessage/on-record.ts";
import { messageProblems } from "../omnimessage/validate.ts";
import { CallRules } from "./rules/calls.ts";
import { checkOrder, PlaceRules } from "./rules/places.ts";
import { RequestRules } from "./rules/requests.ts";
import { place, type Report, type RuleChecker, type RuleScope } from "./rules/rule.ts";
import { SegmentRules } from "./rules/segments.ts";

/** What kind of list {@link ruleViolations} is given. */
export interface RuleOptions {
  /** The list is a trace; default: the stream of one run. */
  readonly trace?: boolean;
  /**
   * The process that produced the list may have been killed: nothing is missing at its end, and in a trace, which may
   * have been continued, neither before a later request.
   */
  readonly open?: boolean;
  /** The trace that the list, a stream, was recorded in; it may hold more than this run. */
  readonly against?: readonly OmniMessage[];
}

/**
 * Checks the rules of the protocol on a stream or a trace, as far as one list of messages shows them.
 *
 * Every chain of child sessions is a stream of its own. Rule 6 leaves nothing to see in one list, and rule 9 is kept by
 * passing over what is not known. Malformed messages are all that is reported where there are any: what follows from
 * them would only hide them.
 *
 * @returns One string for each breach, in the order of the messages: `rule 3: message 12: a second output of call_1`;
 *   `format: message 1: …` for a malformed one. Messages are counted from 1. Empty when the rules are kept.
 */
export function ruleViolations(messages: readonly OmniMessage[], options: RuleOptions = {}): string[] {
  const malformed = messages.flatMap((message, at) =>
    messageProblems(message).map((problem) => `format: ${place(at)}: ${problem}`),
  );
  if (malformed.length > 0) return malformed;

  const found: { readonly at: number; readonly text: string }[] = [];
  const report: Report = (rule, at, what) => found.push({ at, text: `rule ${rule}: ${place(at)}: ${what}` });
  const { trace = false, open = false, against } = options;
  const sessions = new Map<string, RuleChecker[]>();
  for (const [at, message] of messages.entries()) {
    if (trace && !isOnRecord(message)) {
      report(7, at, `${message.payload.type ?? message.type}${message.origin ? " with origin" : ""} is in a trace`);
      continue;
    }
    const session = JSON.stringify(message.origin ?? []);
    const checkers = sessions.get(session) ?? checkersFor(report, { trace, open, child: message.origin !== undefined });
    sessions.set(session, checkers);
    for (const checker of checkers) checker.see(message, at);
  }
  if (!open) for (const checker of [...sessions.values()].flat()) checker.end?.();
  if (against !== undefined) checkOrder(messages, against, report);
  return found.sort((a, b) => a.at - b.at).map(({ text }) => text);
}

function checkersFor(report: Report, scope: RuleScope): RuleChecker[] {
  return [
    new SegmentRules(report, scope),
    new CallRules(report, scope),
    new RequestRules(report, scope),
    new PlaceRules(report, scope),
  ];
}
