/** A place inside a value that JSON cannot hold, and why. */
export interface NonJson {
  readonly steps: readonly string[];
  readonly message: string;
}

/** Finds the first thing that JSON cannot hold: YAML has anchors that lead in a circle, infinite numbers, sets and bytes. */
export function findNonJson(
  value: unknown,
  steps: readonly string[] = [],
  around: readonly unknown[] = [],
): NonJson | undefined {
  if (typeof value === "number" && !Number.isFinite(value)) {
    return { steps, message: `must be a finite number, got ${value}` };
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (around.includes(value)) return { steps, message: "contains itself" };
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) {
    return { steps, message: "has a type that cannot be used here; use text, numbers, booleans, lists and maps" };
  }
  for (const [key, item] of Object.entries(value)) {
    const found = findNonJson(item, [...steps, key], [...around, value]);
    if (found !== undefined) return found;
  }
  return undefined;
}
