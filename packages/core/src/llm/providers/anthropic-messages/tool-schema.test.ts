import { expect, test } from "vitest";
import { toolSchema } from "./tool-schema.ts";

test("a schema that the service takes stays as it is", () => {
  const schema = {
    type: "object",
    description: "All.",
    properties: {
      path: { type: "string", pattern: "^\\/", minLength: 1 },
      pair: { type: "array", prefixItems: [{ type: "string" }, true], items: false },
      kind: { anyOf: [{ const: "a" }, { $ref: "#/$defs/b" }], default: null },
      more: { type: ["object", "null"], additionalProperties: { type: "number", exclusiveMinimum: 0 } },
    },
    required: ["path"],
    additionalProperties: false,
    $defs: { b: { enum: ["b"] } },
  };
  expect(toolSchema(schema)).toEqual(schema);
});

test.each([
  [{}, { type: "object", properties: {} }],
  [
    { type: "null", properties: [] },
    { type: "object", properties: {} },
  ],
  [
    { type: "object", $ref: "#/definitions/a", definitions: { a: { type: "object" } } },
    { type: "object", $ref: "#/definitions/a", definitions: { a: { type: "object" } }, properties: {} },
  ],
])("%j has an object at its top", (schema, made) => {
  expect(toolSchema(schema)).toEqual(made);
});

test("alternatives at the top become one object that requires what all of them do", () => {
  const { oneOf, ...rest } = {
    oneOf: [{ properties: { a: { type: "string" }, c: {} }, required: ["a", "c"] }, { $ref: "#/$defs/b" }],
    allOf: [{ properties: { d: { type: "number" } }, required: ["d"] }],
    $defs: { b: { properties: { b: { type: "string" } }, required: ["b", "c"] } },
  };
  expect(toolSchema({ oneOf, ...rest })).toEqual({
    type: "object",
    properties: { a: { type: "string" }, b: { type: "string" }, c: {}, d: { type: "number" } },
    required: ["d", "c"],
    $defs: rest.$defs,
  });
});

test("properties with names that the service refuses are told in the description", () => {
  const schema = {
    type: "object",
    description: "Finds.",
    properties: { $filter: { type: "string" }, "ein Pfad": {}, ok: {} },
    required: ["$filter", "ok"],
    additionalProperties: false,
  };
  expect(toolSchema(schema)).toEqual({
    type: "object",
    description: 'Finds. It also takes these properties: {"$filter":{"type":"string"},"ein Pfad":{}}',
    properties: { ok: {} },
    required: ["ok"],
  });
});

test.each([
  [
    { items: [{ type: "string" }], additionalItems: false },
    { prefixItems: [{ type: "string" }], items: false },
  ],
  [
    { minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
    { exclusiveMinimum: 1, maximum: 9 },
  ],
  [{ type: "file", format: 3, description: null }, {}],
  [{ type: ["string", "any", "string"] }, { type: "string" }],
  [{ required: true, enum: [], pattern: "(", minLength: -1, multipleOf: 0 }, {}],
  [{ $ref: "#/$defs/none" }, {}],
  [{ anyOf: [], items: "string", properties: { x: 3 } }, { properties: { x: true } }],
])("inside, %j becomes %j", (inside, made) => {
  expect(toolSchema({ type: "object", properties: { p: inside } }).properties).toEqual({ p: made });
});
