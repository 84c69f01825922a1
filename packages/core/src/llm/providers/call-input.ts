import { isJsonObject, parseJson } from "../json-value.ts";

/**
 * The arguments of a call for a protocol that takes them as a value; those of more than `maxLevels`, which its readers of
 * JSON would give up on, go back as an empty object.
 */
export function callInput(argumentsText: string, maxLevels: number): unknown {
  const value = parseJson(argumentsText);
  return isJsonObject(value) && !isDeeperThan(maxLevels, value) ? value : {};
}

/** Whether lists and objects are nested in a value by more than this. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item));
}
