/** The schema of the argument by which a call gets less time than its tool has. */
export const TIMEOUT_SECONDS = {
  type: "number",
  exclusiveMinimum: 0,
  description: "After so many seconds it is killed. It can only shorten the time that the tool has anyway.",
} as const;

/**
 * When a process has to be killed for the sake of its call alone; absent where the time-out of the tool comes first.
 *
 * @param timeoutSeconds - The argument; anything but a number above 0 counts as absent.
 * @param maximumMs - The tool's; absent: none.
 */
export function callDeadlineMs(
  timeoutSeconds: unknown,
  maximumMs: number = Number.POSITIVE_INFINITY,
): number | undefined {
  if (typeof timeoutSeconds !== "number" || !(timeoutSeconds > 0)) return undefined;
  const deadlineMs = timeoutSeconds * 1000;
  return deadlineMs < maximumMs ? deadlineMs : undefined;
}
