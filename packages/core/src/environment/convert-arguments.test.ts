import fc from "fast-check";
import { expect, test } from "vitest";
import { convertArguments } from "./convert-arguments.ts";

function convertOne(wanted: unknown, value: unknown): unknown {
  return convertArguments({ type: "object", properties: { value: wanted }, required: ["value"] }, { value }).value;
}

test("a string becomes an integer, a number or a boolean where the schema wants that", () => {
  for (const text of ["12", " 12 ", "+12"]) expect(convertOne({ type: "integer" }, text)).toBe(12);
  expect(convertOne({ type: "integer" }, "-3")).toBe(-3);
  expect(convertOne({ type: "number" }, "1.5e3")).toBe(1500);
  expect(convertOne({ type: "number" }, ".5")).toBe(0.5);
  expect(convertOne({ type: "boolean" }, "true")).toBe(true);
  expect(convertOne({ type: "boolean" }, " false ")).toBe(false);
});

test("what is no such value stays the string it was", () => {
  for (const text of ["12abc", "", " ", "1.5", "1e3", "0x10", "99999999999999999999", "Infinity"]) {
    expect(convertOne({ type: "integer" }, text)).toBe(text);
  }
  for (const text of ["", ".", "1,5", "NaN"]) expect(convertOne({ type: "number" }, text)).toBe(text);
  for (const text of ["yes", "1", "TRUE", ""]) expect(convertOne({ type: "boolean" }, text)).toBe(text);
});

test("nothing but strings is converted, and no string where a string is accepted", () => {
  expect(convertOne({ type: "string" }, 5)).toBe(5);
  expect(convertOne({ type: "integer" }, 5.5)).toBe(5.5);
  expect(convertOne({ type: "integer" }, true)).toBe(true);
  for (const schema of [
    { type: "string" },
    { type: ["integer", "string"] },
    {},
    { $ref: "#/$defs/x" },
    true,
    undefined,
  ]) {
    expect(convertOne(schema, "12")).toBe("12");
  }
});

test("types are found in lists of types, unions, constants and enumerations", () => {
  expect(convertOne({ type: ["integer", "null"] }, "12")).toBe(12);
  expect(convertOne({ anyOf: [{ type: "integer" }, { type: "null" }] }, "12")).toBe(12);
  expect(convertOne({ oneOf: [{ const: 1 }, { const: 2 }] }, "2")).toBe(2);
  expect(convertOne({ enum: [1, 2] }, "2")).toBe(2);
  expect(convertOne({ enum: ["1", "2"] }, "2")).toBe("2");
});

test("null counts as absent for an optional property only, and not where the schema takes null", () => {
  const schema = {
    properties: {
      needed: { type: "string" },
      extra: { type: "string" },
      empty: { type: ["string", "null"] },
      union: { anyOf: [{ type: "string" }, { type: "null" }] },
      open: { type: "string", nullable: true },
    },
    required: ["needed"],
  };
  const args = { needed: null, extra: null, empty: null, union: null, open: null, unknown: null };
  expect(convertArguments(schema, args)).toEqual({ needed: null, empty: null, union: null, open: null, unknown: null });
});

test("properties of objects and items of lists are converted likewise, on a copy", () => {
  const item = { type: "object", properties: { line: { type: "integer" }, note: { type: "string" } } };
  const args = { edits: [{ line: "3", note: null }], only: { line: "4" } };
  const schema = { properties: { edits: { type: "array", items: item }, only: item } };
  expect(convertArguments(schema, args)).toEqual({ edits: [{ line: 3 }], only: { line: 4 } });
  expect(args.edits[0]).toEqual({ line: "3", note: null });
});

test("names are looked up as own properties: a schema's prototype is no schema", () => {
  expect(convertArguments({ properties: {} }, { toString: null, constructor: "12" })).toEqual({
    toString: null,
    constructor: "12",
  });
});

test("a schema that asks for nothing leaves any arguments as they are", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom({}, { properties: 5 }, undefined),
      (args, schema) => {
        expect(convertArguments(schema, args)).toEqual({ ...args });
      },
    ),
  );
});
