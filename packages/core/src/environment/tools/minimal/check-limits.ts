/** Refuses limits that are none. @throws {RangeError} one is given and no number above 0; it is named. */
export function checkLimits(limits: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(limits)) {
    if (value === undefined || (Number.isFinite(value) && value > 0)) continue;
    throw new RangeError(`${name} must be a number above 0, got ${String(value)}`);
  }
}
