import { expect, test } from "vitest";
import { readableSchema } from "./readable-schema.ts";

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
  [{ type: ["string", "any", "string"] }, { type: ["string"] }],
  [{ required: true, enum: [], pattern: "(", minLength: -1, multipleOf: 0 }, {}],
  [{ $ref: "#/$defs/none" }, {}],
  [{ anyOf: [], items: "string", properties: { x: 3 } }, { properties: { x: {} } }],
])("inside, %j becomes %j", (inside, made) => {
  const schema = { type: "object", properties: { p: inside } };
  expect(readableSchema(schema, schema).properties).toEqual({ p: made });
});

test("keywords and properties that all objects know are like any other", () => {
  const text = '{"__proto__":{"a":1},"constructor":2,"properties":{"__proto__":{"type":"text"},"toString":true}}';
  const schema = JSON.parse(text);
  expect(JSON.stringify(readableSchema(schema, schema))).toBe(text.replace('"type":"text"', ""));
});
