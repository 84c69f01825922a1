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

test("what a local $ref or allOf leads to counts like what stands there", () => {
  const schema = {
    type: "object",
    properties: {
      mode: { $ref: "#/$defs/Mode" },
      count: { allOf: [{ $ref: "#/definitions/Count%3Cint%3E" }], description: "how many" },
      maybe: { $ref: "#/$defs/Maybe" },
      list: { $ref: "#/$defs/List" },
      slash: { $ref: "#/$defs/a~1b" },
      text: { allOf: [{}, { $ref: "#/$defs/Mode" }] },
      whole: { $ref: "#" },
    },
    allOf: [{ properties: { flag: { type: "boolean" } } }, { $ref: "#/$defs/Rest" }],
    $defs: {
      Mode: { enum: ["a", "b"], type: "string" },
      Maybe: { anyOf: [{ $ref: "#/$defs/Mode" }, { type: "null" }] },
      List: { type: "array", items: { $ref: "#/$defs/a~1b" } },
      "a/b": { type: "object", properties: { n: { type: "integer" } } },
      Rest: { properties: { must: { type: "integer" } }, required: ["must"] },
    },
    definitions: { "Count<int>": { type: "integer" } },
  };
  const convert = (args: Record<string, unknown>): unknown => convertArguments(schema, args);
  expect(convert({ mode: null, count: null, maybe: null, list: null, flag: null, must: null })).toEqual({
    maybe: null,
    must: null,
  });
  expect(convert({ mode: "5", count: "5", text: "5", list: [{ n: "1" }], slash: { n: "2" } })).toEqual({
    mode: "5",
    count: 5,
    text: "5",
    list: [{ n: 1 }],
    slash: { n: 2 },
  });
  expect(convert({ flag: "true", must: "7", whole: { count: "1", whole: { must: "2" } } })).toEqual({
    flag: true,
    must: 7,
    whole: { count: 1, whole: { must: 2 } },
  });
});

test("a $ref that leads in a circle, nowhere or abroad decides nothing", () => {
  const $defs = {
    a: { $ref: "#/$defs/b" },
    b: { allOf: [{ $ref: "#/$defs/a" }] },
    json: { anyOf: [{ type: "integer" }, { $ref: "#/$defs/json" }] },
  };
  for (const $ref of ["#/$defs/a", "#/$defs/json", "#/$defs/none", "#/%", "other.json#/x", "#anchor", 5]) {
    const schema = { type: "object", properties: { value: { $ref } }, $defs };
    expect(convertArguments(schema, { value: "12" })).toEqual({ value: "12" });
    expect(convertArguments(schema, { value: null })).toEqual({ value: null });
  }
});
