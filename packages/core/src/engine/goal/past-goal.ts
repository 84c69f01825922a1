import { readGoalInput } from "../../omnimessage/goal-input.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";

/** What a round of a goal said when it is said again after the goal has ended, so that nobody obeys it (INT-13). */
export function asPast(message: OmniMessage): OmniMessage {
  const goal = readGoalInput(message);
  if (!goal) return message;
  const text = `(Round ${goal.round} of work on the goal below was interrupted; that goal is no longer pursued.)\n\n${goal.body}`;
  return { ...message, payload: { ...message.payload, text } as OmniMessage["payload"] };
}
