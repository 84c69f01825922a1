import { isType, type OmniMessage, readGoalInput } from "@rookery/core";

/** How a goal gets on, in a line: the round that begins, or how it ended; `undefined` for any other message. */
export function goalLine(message: OmniMessage): string | undefined {
  const goal = readGoalInput(message);
  if (goal) return `goal: round ${goal.round}`;
  if (!isType(message, "goal_finished")) return undefined;
  const { outcome, rounds, tokens_used } = message.payload;
  const took = `${rounds} ${rounds === 1 ? "round" : "rounds"}, ${tokens_used.toLocaleString("en-US")} tokens`;
  return `goal: ${outcome.replace("_", " ")} after ${took}`;
}
