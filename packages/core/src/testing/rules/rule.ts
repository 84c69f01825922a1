import type { OmniMessage } from "../../omnimessage/message.ts";

/** Says that a rule of the protocol is broken: its number, the place of the message, and what is wrong there. */
export type Report = (rule: number, at: number, what: string) => void;

/** Watches one session's messages in order. `at` is the place of a message in the whole list, from 0. */
export interface RuleChecker {
  see(message: OmniMessage, at: number): void;
  /** The last message was seen, and nothing was killed: what is still owed is missing. */
  end?(): void;
}

/** What the checkers may know of the list beside its messages. */
export interface RuleScope {
  /** The list is a trace and not a stream. */
  readonly trace: boolean;
  /** The process that wrote the list may have been killed. */
  readonly open: boolean;
  /** The messages are those of a child session. */
  readonly child: boolean;
}

/** The place of a message as people count. */
export function place(at: number): string {
  return `message ${at + 1}`;
}
