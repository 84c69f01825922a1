import { expect, test } from "vitest";
import { type Shape, shapeProblems, shapeToJsonSchema } from "./shape.ts";

const names = { Level: ["low", "high"] } as const;
const model = { fields: { id: "string", "level?": "Level", "limits?": { map: "number" } } } as const;

test.each<[Shape, unknown]>([
  ["string", ""],
  ["number", 0],
  ["boolean", false],
  ["unknown", undefined],
  ["object", {}],
  ["Level", "high"],
  [["a", 1], 1],
  [{ list: "string" }, []],
  [{ map: "number" }, { a: 1 }],
  [{ either: ["number", ["unknown"]] }, "unknown"],
  [model, { id: "x", level: undefined, more: true }],
])("%j admits %j", (shape, value) => {
  expect(shapeProblems(shape, value, { names })).toEqual([]);
});

test.each<[Shape, unknown, string, string]>([
  ["string", 1, "", "must be a string, got 1"],
  ["object", [], "", "must be an object, got []"],
  ["object", null, "", "must be an object, got null"],
  ["Level", "mid", "", 'must be one of "low", "high", got "mid"'],
  [["a"], "x".repeat(80), "", `must be one of "a", got "${"x".repeat(56)}...`],
  [{ list: "string" }, ["a", 2], "[1]", "must be a string, got 2"],
  [{ list: "string" }, {}, "", "must be a list, got {}"],
  [{ map: "number" }, { a: "1" }, "a", 'must be a number, got "1"'],
  [{ either: ["number", ["unknown"]] }, "many", "", 'must be a number, got "many"'],
  [{ list: model }, [{ id: "x" }, {}], "[1].id", "is missing"],
  [model, { id: "x", limits: { depth: null } }, "limits.depth", "must be a number, got null"],
])("%j does not admit %j", (shape, value, path, message) => {
  expect(shapeProblems(shape, value, { names })).toEqual([{ path, message }]);
});

test("a field that is only inherited is missing", () => {
  const shape = { fields: { constructor: "unknown" } } as const;
  expect(shapeProblems(shape, {})).toEqual([{ path: "constructor", message: "is missing" }]);
});

test("unknown keys are reported only where that is asked for", () => {
  const value = { id: "x", levle: "low" };
  expect(shapeProblems(model, value, { names })).toEqual([]);
  expect(shapeProblems(model, value, { names, unknownKeys: true })).toEqual([
    { path: "levle", message: "is not a known key" },
  ]);
});

test("a shape that names nothing is a mistake of the programmer", () => {
  expect(() => shapeProblems("Levle", "low", { names })).toThrow(new TypeError('no shape is named "Levle"'));
});

test("a shape becomes a JSON Schema, with names as references", () => {
  expect(shapeToJsonSchema({ list: model })).toEqual({
    type: "array",
    items: {
      type: "object",
      properties: {
        id: { type: "string" },
        level: { $ref: "#/$defs/Level" },
        limits: { type: "object", additionalProperties: { type: "number" } },
      },
      required: ["id"],
    },
  });
  expect(shapeToJsonSchema({ either: ["unknown", ["a", 1]] })).toEqual({ anyOf: [{}, { enum: ["a", 1] }] });
});
