import { Ajv } from "ajv";
import fc from "fast-check";
import { expect, test } from "vitest";
import { surelyFits } from "./plain-schema.ts";
import { STANDARD_TOOLSET } from "./tool-registry.ts";

const type = fc.constantFrom("string", "number", "integer", "boolean", "array", "null");
const schema = fc.record({
  type: fc.constant("object"),
  properties: fc.dictionary(fc.constantFrom("a", "b", "c"), fc.record({ type })),
  required: fc.uniqueArray(fc.constantFrom("a", "b", "c", "d")),
});
const args = fc.dictionary(
  fc.constantFrom("a", "b", "c", "d"),
  fc.oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.constant([])),
);

test("what surely fits a schema also fits it for the compiled check", () => {
  const ajv = new Ajv({ strict: false });
  fc.assert(
    fc.property(schema, args, (properties, given) => {
      if (surelyFits(properties, given)) expect(ajv.compile(properties)(given)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("a schema that says more than names and types is not judged", () => {
  const fits = (extra: object, property: object = { type: "string" }) =>
    surelyFits({ type: "object", properties: { a: property }, required: ["a"], ...extra }, { a: "x" });
  expect(fits({})).toBe(true);
  expect(fits({ additionalProperties: false })).toBe(false);
  expect(fits({ minProperties: 2 })).toBe(false);
  expect(fits({}, { type: "string", enum: ["x"] })).toBe(false);
  expect(fits({}, { type: ["string", "null"] })).toBe(false);
  expect(fits({ type: "array" })).toBe(false);
});

test("the built-in tools' schemas are judged without compiling them", () => {
  for (const { name, parameters = {} } of STANDARD_TOOLSET) {
    const { properties, required } = parameters as { properties: object; required: string[] };
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(required));
    const given = Object.fromEntries(required.map((key) => [key, "x"]));
    expect([name, surelyFits(parameters, given)]).toEqual([name, true]);
  }
});
