import type { ApproveFn } from "../approval/contract.ts";

/** Puts the questions of a run to its ApproveFn one after another, whoever asks: the run itself or a tool it handed it to. */
export function oneAtATime(approve: ApproveFn): ApproveFn {
  let before: Promise<unknown> = Promise.resolve();
  return (toolCall, context) => {
    const answer = before.then(() => approve(toolCall, context));
    before = answer.catch(() => undefined);
    return answer;
  };
}
