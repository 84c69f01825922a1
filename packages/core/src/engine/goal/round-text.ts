import { goalInputText } from "../../omnimessage/goal-input.ts";
import type { GoalFile } from "./goal-file.ts";

/** A round as the model is told of it. */
export interface Round {
  /** From 1. */
  readonly number: number;
  readonly body: string;
  /** What is left to spend, in a line. */
  readonly budget: string;
  /** Set for the round after the budget: the requests it may make. */
  readonly wrapUpTurns?: number;
}

/**
 * What a round gives the model: rules and state in a block, and the body behind it.
 *
 * The objective stands in the block as YAML and indented, so that nothing in it can end the block (GOAL-06).
 */
export function roundText(
  { number, body, budget, wrapUpTurns }: Round,
  file: Pick<GoalFile, "path" | "planPath" | "text">,
): string {
  const lines = [
    "You work on one goal in rounds until it is reached. Each round begins by itself when you have ended the one before.",
    `Control file: ${file.path}`,
    "It was written as follows; only its status may be changed, and only as the rules say (by a command where no file tool reaches it):",
    ...file.text
      .trimEnd()
      .split(LINE_ENDS)
      .map((line) => `  ${line}`),
    `Budget: ${budget}`,
    ...(wrapUpTurns === undefined ? RULES : wrapUpRules(wrapUpTurns)).map(
      (rule) => `- ${rule.replaceAll("PLAN", () => file.planPath)}`,
    ),
  ];
  return goalInputText({ round: number, body }, lines);
}

/** Whatever anybody may take for the end of a line. */
const LINE_ENDS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

const AUDIT =
  "Set status: complete only after an audit: go through the objective demand by demand, and look for proof of each in what is there now, in files, in the output of commands, in tests that you run. That much was done, or that it was said before, proves nothing. What is not proven is not done.";

const RULES = [
  "The objective holds as it was given. Do not make it smaller, easier or another one, however long it takes.",
  "Keep PLAN: what is done, what is left, what comes next. Read it first, since earlier rounds may no longer be before you.",
  AUDIT,
  "Set status: blocked only if the same obstacle has stopped you in three rounds running and nothing you can do leads around it; say in PLAN what it is. Work that is hard, slow or unfinished is not blocked.",
  "Otherwise leave the file as it is. End the round where you can stop well; the next one goes on.",
];

function wrapUpRules(turns: number): string[] {
  return [
    `The budget is spent, and this round, of ${turns} requests at most, is the last. Begin nothing new.`,
    "Bring what you are at to a state in which it can be left, and write into PLAN what is done, what is left, and what comes next.",
    AUDIT,
    "End with a few sentences on where the goal stands.",
  ];
}
