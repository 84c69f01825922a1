import { expect, test } from "vitest";
import { objectSchema } from "./object-schema.ts";

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
  expect(objectSchema(schema)).toEqual(made);
});

test("alternatives at the top become one object that requires what all of them do", () => {
  const { oneOf, ...rest } = {
    oneOf: [{ properties: { a: { type: "string" }, c: {} }, required: ["a", "c"] }, { $ref: "#/$defs/b" }],
    allOf: [{ properties: { d: { type: "number" } }, required: ["d"] }],
    $defs: { b: { properties: { b: { type: "string" } }, required: ["b", "c"] } },
  };
  expect(objectSchema({ oneOf, ...rest })).toEqual({
    type: "object",
    properties: { a: { type: "string" }, b: { type: "string" }, c: {}, d: { type: "number" } },
    required: ["d", "c"],
    $defs: rest.$defs,
  });
});

test("parts that are shared are read once each, and required wherever they stand", () => {
  const shared = { properties: { id: { type: "string" } }, required: ["id"] };
  const links = Array.from({ length: 60 }, (_, n) => [
    `n${n}`,
    { allOf: Array(3).fill({ $ref: `#/$defs/n${n + 1}` }) },
  ]);
  const $defs = { ...Object.fromEntries(links), n60: shared };
  const { properties, required } = objectSchema({
    oneOf: [{ $ref: "#/$defs/n0" }, { allOf: [{ $ref: "#/$defs/n0" }] }],
    $defs,
  });
  expect({ properties, required }).toEqual(shared);
});
