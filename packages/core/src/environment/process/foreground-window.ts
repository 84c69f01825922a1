/** Shorter waits would only make more calls. */
const MIN_WINDOW_MS = 250;
/** How far before the call's time-out its window closes. */
const MARGIN_MS = 1000;

/**
 * How long a call watches a command before it lets it go on by itself: what was asked for, at least 250 ms, and less than
 * the call's time-out, so that the command is not ended by it (PT-095, PT-096).
 *
 * @param askedMs - Anything but a finite number counts as absent.
 * @param timeoutMs - Of the call; absent: none.
 */
export function foregroundWindowMs(askedMs: unknown, defaultMs: number, timeoutMs: number | undefined): number {
  const wantedMs = Math.max(MIN_WINDOW_MS, Number.isFinite(askedMs) ? Number(askedMs) : defaultMs);
  if (timeoutMs === undefined) return wantedMs;
  return Math.min(wantedMs, timeoutMs - Math.min(MARGIN_MS, timeoutMs / 2));
}
