import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "./json-value.ts";

/** What a provider wants back with a piece of its reply, by provider; opaque (PC-041). */
export type Fidelity = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** True for an object of objects: the shape in which providers give fidelity out. */
export function isFidelity(value: unknown): value is Fidelity {
  return isJsonObject(value) && Object.values(value).every(isJsonObject);
}

/** The fields of both, later ones winning (PC-046). */
export function mergeFidelity(earlier: Fidelity | undefined, later: Fidelity | undefined): Fidelity | undefined {
  if (!earlier || !later) return later ?? earlier;
  const merged: Record<string, Readonly<Record<string, unknown>>> = { ...earlier };
  for (const [provider, fields] of Object.entries(later)) merged[provider] = { ...merged[provider], ...fields };
  return merged;
}

/** True when every field of `later` already stands in `earlier` with the same value. */
export function covers(earlier: Fidelity | undefined, later: Fidelity): boolean {
  return fieldsOf(later).every(([provider, name, value]) => isDeepStrictEqual(earlier?.[provider]?.[name], value));
}

/** True when a field stands in both with different values; `null` is no value yet. */
export function contradicts(earlier: Fidelity | undefined, later: Fidelity): boolean {
  return fieldsOf(later).some(([provider, name, value]) => {
    const before = earlier?.[provider]?.[name];
    return before !== undefined && before !== null && !isDeepStrictEqual(before, value);
  });
}

/** The value of a field under whichever provider names it. */
export function fidelityField(fidelity: Fidelity | undefined, name: string): unknown {
  return fidelity && fieldsOf(fidelity).find(([, field]) => field === name)?.[2];
}

function fieldsOf(fidelity: Fidelity): [provider: string, name: string, value: unknown][] {
  return Object.entries(fidelity).flatMap(([provider, fields]) =>
    Object.entries(fields).map(([name, value]): [string, string, unknown] => [provider, name, value]),
  );
}
