import { Type } from "typebox";
import { expect, test } from "vitest";
import { validateArguments } from "./validate-arguments.ts";

const path = { type: "string" };

function problems(properties: Record<string, unknown>, args: Record<string, unknown>, rest: object = {}) {
  return validateArguments({ type: "object", properties, ...rest }, args);
}

test("a problem names the field, what is accepted, and what was given", async () => {
  expect(await problems({ file_path: path }, { file_path: 5 })).toEqual(["file_path: must be a string, got 5"]);
  expect(await problems({ file_path: path }, { file_path: ["a"] })).toEqual(['file_path: must be a string, got ["a"]']);
  expect(await problems({ n: { type: "integer" } }, { n: 1.5 })).toEqual(["n: must be an integer, got 1.5"]);
  expect(await problems({ n: { type: ["object", "null"] } }, { n: 1 })).toEqual([
    "n: must be an object or null, got 1",
  ]);
  expect(await problems({ mode: { enum: ["a", "b"] } }, { mode: "c" })).toEqual([
    'mode: must be one of "a", "b", got "c"',
  ]);
  expect(await problems({ n: { minimum: 1 } }, { n: 0 })).toEqual(["n: must be >= 1, got 0"]);
  expect(await problems({ v: { const: 1 } }, { v: 2 })).toEqual(["v: must be 1, got 2"]);
});

test("null for a required property is an error", async () => {
  expect(await problems({ file_path: path }, { file_path: null }, { required: ["file_path"] })).toEqual([
    "file_path: must be a string, got null",
  ]);
});

test("missing properties are named, each on its line", async () => {
  expect(await problems({ a: path, b: path }, {}, { required: ["a", "b"] })).toEqual([
    "a: is required and missing",
    "b: is required and missing",
  ]);
});

test("a missing description fails no call", async () => {
  const properties = { description: path, cmd: path };
  expect(await problems(properties, { cmd: "ls" }, { required: ["description", "cmd"] })).toEqual([]);
});

test("unknown properties are ignored, unless the schema says additionalProperties: false", async () => {
  expect(await problems({ a: path }, { b: 1 })).toEqual([]);
  expect(await problems({ a: path }, { b: 1 }, { additionalProperties: false })).toEqual([
    "b: is not accepted, use only a",
  ]);
  expect(await problems({}, { b: 1 }, { additionalProperties: false })).toEqual([
    "b: is not accepted, there are no arguments",
  ]);
});

test("only own properties count as given", async () => {
  expect(await problems({ toString: path }, {}, { required: ["toString"] })).toEqual([
    "toString: is required and missing",
  ]);
  expect(await problems({ constructor: path }, {})).toEqual([]);
});

test("a union is one line that says all it accepts", async () => {
  const mode = { anyOf: [{ const: "x" }, { const: "y" }, { type: "integer" }, { minimum: 3 }] };
  expect(await problems({ mode }, { mode: 1.5 })).toEqual([
    'mode: must be "x" or "y" or an integer or what the schema {"minimum":3} describes, got 1.5',
  ]);
});

test("nested fields are spelled as paths", async () => {
  const edits = { type: "array", items: { type: "object", properties: { "a/b": path }, required: ["old"] } };
  expect(await problems({ edits }, { edits: [{ old: "" }, { "a/b": 1 }] })).toEqual([
    "edits[1].old: is required and missing",
    "edits[1].a/b: must be a string, got 1",
  ]);
});

test("long values and long lists of problems are shortened", async () => {
  const [line] = await problems({ n: { type: "integer" } }, { n: "x".repeat(1000) });
  expect(line).toBe(`n: must be an integer, got "${"x".repeat(78)}…`);
  const many = await problems({ list: { items: path } }, { list: Array.from({ length: 30 }, (_, i) => i) });
  expect(many).toHaveLength(11);
  expect(many.at(-1)).toBe("… and 20 more");
});

test("schemas of several drafts, of one $id, and with formats are understood", async () => {
  const tuple = { type: "array", prefixItems: [path], items: false };
  const recent = { $schema: "https://json-schema.org/draft/2020-12/schema" };
  expect(await problems({ tuple }, { tuple: ["a", "b"] }, recent)).toEqual([
    'tuple: must NOT have more than 1 items, got ["a","b"]',
  ]);
  for (const $schema of ["http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema#", 5]) {
    expect(await problems({ a: path }, { a: 1 }, { $schema, $id: "same" })).toEqual(["a: must be a string, got 1"]);
  }
  expect(await problems({ url: { type: "string", format: "uri" } }, { url: "no" })).toEqual([
    'url: must match format "uri", got "no"',
  ]);
  expect(await problems({ x: { format: "of-my-own" } }, { x: "no" })).toEqual([]);
});

test("TypeBox schemas are plain JSON Schema (PI-005)", async () => {
  const schema = Type.Object({ city: Type.String(), days: Type.Optional(Type.Integer()) });
  expect(await validateArguments({ ...schema }, { city: "Oslo" })).toEqual([]);
  expect(await validateArguments({ ...schema }, { days: "x" })).toEqual([
    "city: is required and missing",
    'days: must be an integer, got "x"',
  ]);
  expect(await validateArguments({ ...Type.Object({}) }, {})).toEqual([]);
});

test("a schema that cannot be compiled is a problem of its own, at every call", async () => {
  const broken = { type: "object", properties: { a: { type: "strnig" } } };
  for (let i = 0; i < 2; i++) {
    expect(await validateArguments(broken, {})).toEqual([
      "the tool's own schema is broken, it cannot be called: type must be JSONType or JSONType[]: strnig",
    ]);
  }
});
