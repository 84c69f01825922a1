import type { OmniMessage, RunOutcome } from "@rookery/core";

/** How a run is shown while it goes on and when it has ended. */
export interface View {
  /** @returns A promise only when the run should wait for a slow reader. */
  show(message: OmniMessage): Promise<void> | undefined;
  /** @param hint - What to do about a run that did not complete. */
  end(outcome: RunOutcome, hint?: string): void;
}
