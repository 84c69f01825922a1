/** What the control file of a goal says; the problem of one that says nothing of the kind counts as blocked. */
export type GoalStatus = "active" | "complete" | "blocked" | { readonly problem: string };

/** The file in which the model says how a goal stands. */
export interface GoalFile {
  readonly path: string;
  /** As it was written when the goal began. */
  readonly text: string;
  readStatus(): Promise<GoalStatus>;
}
