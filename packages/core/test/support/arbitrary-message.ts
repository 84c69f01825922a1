import fc from "fast-check";
import { complete, event, names, partial, sessionMeta } from "../../src/omnimessage/definition.ts";
import type { Shape } from "../../src/omnimessage/shape.ts";

/** Messages of every type as JSON, made from the definition. */
export const arbitraryMessage: fc.Arbitrary<unknown> = fc.oneof(
  enveloped("session_meta", [fieldsOf(sessionMeta)]),
  enveloped("model_msg", typed({ ...complete, ...partial })),
  enveloped("event_msg", typed(event)),
);

/** Messages of which one place was replaced by another value, or taken away; many of them are broken. */
export const arbitraryMutant: fc.Arbitrary<unknown> = fc
  .tuple(
    arbitraryMessage,
    fc.nat(),
    fc.option(fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom(...wordsOfInterest()))),
  )
  .map(([message, choice, value]) => {
    const copy: unknown = JSON.parse(JSON.stringify(message));
    const places = placesIn(copy);
    const place = places[choice % places.length];
    if (place === undefined) return copy;
    if (value === null) delete place.object[place.key];
    else place.object[place.key] = value;
    // A place taken out of a list leaves a hole, which JSON does not know.
    return JSON.parse(JSON.stringify(copy)) as unknown;
  });

function enveloped(type: string, payloads: fc.Arbitrary<unknown>[]): fc.Arbitrary<unknown> {
  return fc
    .record(
      {
        timestamp: fc
          .date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true })
          .map((d) => d.toISOString()),
        type: fc.constant(type),
        payload: fc.oneof(...payloads),
        origin: fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 2 }),
      },
      { requiredKeys: ["timestamp", "type", "payload"] },
    )
    .map((message): unknown => JSON.parse(JSON.stringify(message)));
}

function typed(table: Readonly<Record<string, Readonly<Record<string, Shape>>>>): fc.Arbitrary<unknown>[] {
  return Object.entries(table).map(([type, fields]) => fieldsOf({ type: [type], ...fields }));
}

function fieldsOf(fields: Readonly<Record<string, Shape>>): fc.Arbitrary<unknown> {
  const entries = Object.entries(fields).map(([key, shape]) => [key.replace("?", ""), arbitraryOf(shape)] as const);
  const required = Object.keys(fields).filter((key) => !key.endsWith("?"));
  return fc.record(Object.fromEntries(entries), { requiredKeys: required });
}

function arbitraryOf(shape: Shape): fc.Arbitrary<unknown> {
  if (typeof shape === "string") {
    if (shape === "string") return fc.string({ maxLength: 8 });
    if (shape === "number") return fc.double({ noNaN: true, noDefaultInfinity: true });
    if (shape === "boolean") return fc.boolean();
    if (shape === "unknown") return fc.jsonValue({ maxDepth: 1 });
    if (shape === "object")
      return fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 });
    return arbitraryOf((names as Readonly<Record<string, Shape>>)[shape] ?? []);
  }
  if (isLiterals(shape)) return fc.constantFrom(...shape);
  if ("list" in shape) return fc.array(arbitraryOf(shape.list), { maxLength: 2 });
  if ("map" in shape) return fc.dictionary(fc.string({ maxLength: 3 }), arbitraryOf(shape.map), { maxKeys: 2 });
  if ("either" in shape) return fc.oneof(...shape.either.map(arbitraryOf));
  return fieldsOf(shape.fields);
}

// Array.isArray does not narrow a readonly array away.
function isLiterals(shape: Exclude<Shape, string>): shape is readonly (string | number)[] {
  return Array.isArray(shape);
}

interface Place {
  readonly object: Record<string, unknown>;
  readonly key: string;
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const object = value as Record<string, unknown>;
  return Object.keys(object).flatMap((key) => [{ object, key }, ...placesIn(object[key])]);
}

/** Values that come close to being right. */
function wordsOfInterest(): unknown[] {
  const types = [complete, partial, event].flatMap((table) => Object.keys(table));
  return [
    ...types,
    "hologram",
    "constructor",
    "model_msg",
    "event_msg",
    "session_meta",
    "completed",
    1,
    "2026-02-30T00:00:00Z",
    [],
    {},
  ];
}
