import { isType } from "./guards.ts";
import type { OmniMessage } from "./message.ts";

/** What a round of a goal says to the model. */
export interface GoalInput {
  /** From 1. */
  readonly round: number;
  /** The prompt, or in later rounds the objective. */
  readonly body: string;
}

/**
 * The text of a round: a `[goal]` block, a blank line and the body.
 *
 * @param lines - Of the block. None begins with its closing tag as long as whatever is not our own is indented.
 */
export function goalInputText({ round, body }: GoalInput, lines: readonly string[]): string {
  return [`[goal]\nRound ${round}.`, ...lines, `[/goal]\n\n${body}`].join("\n");
}

/** Reads such a text back; `undefined` for any other message. The older spelling in angle brackets is known, too. */
export function readGoalInput(message: OmniMessage): GoalInput | undefined {
  if (!isType(message, "text") || message.payload.role !== "user" || message.payload.sender !== "harness")
    return undefined;
  const { text } = message.payload;
  const round = Number(/^[[<]goal[\]>]\nRound (\d+)\./.exec(text)?.[1] ?? 0);
  const end = /\n[[<]\/goal[\]>]\n\n/.exec(text);
  return round > 0 && end ? { round, body: text.slice(end.index + end[0].length) } : undefined;
}
