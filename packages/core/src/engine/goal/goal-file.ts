/** What the control file of a goal says; the problem of one that says nothing of the kind counts as blocked. */
export type GoalStatus = "active" | "complete" | "blocked" | { readonly problem: string };

/** The file in which the model says how a goal stands. */
export interface GoalFile {
  /** As the model is told of it. */
  readonly path: string;
  /** Of the model's notes, as it is told of them. */
  readonly planPath: string;
  /** Its text as it was written when the goal began. */
  readonly text: string;
  readStatus(): Promise<GoalStatus>;
}
