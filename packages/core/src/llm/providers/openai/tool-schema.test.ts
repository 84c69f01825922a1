import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { ask, responsesModel } from "../../../../test/support/responses-wire.ts";
import { type StrictServer, startStrictServer } from "../../../../test/support/strict-server.ts";
import type { ToolDefinition } from "../../../omnimessage/message.ts";
import { toolSchema } from "./tool-schema.ts";

type Parameters = ToolDefinition["parameters"];

const closing: StrictServer[] = [];
afterEach(async () => {
  for (const server of closing.splice(0)) await server.close();
});

/** What a server that is as strict as the service has to say of these parameters. */
async function complaints(...parameters: Parameters[]): Promise<readonly unknown[]> {
  const server = await startStrictServer({ scripts: ["ok"] });
  closing.push(server);
  const tools = parameters.map((schema, i) => ({ name: `t${i}`, description: "", parameters: schema }));
  const { outcome } = await ask(responsesModel(server, { tools }));
  if (server.violations.length === 0) expect(outcome.status).toBe("completed");
  return server.violations;
}

test("a schema that the service takes stays as it is", async () => {
  const schema = {
    type: "object",
    title: "Search",
    properties: {
      query: { type: "string", minLength: 1, pattern: "^\\p{L}+$", description: "What to look for." },
      where: { anyOf: [{ type: "string" }, { type: "array", items: { $ref: "#/$defs/path" } }, { type: "null" }] },
      depth: { type: ["integer", "null"], minimum: 0, default: 3 },
      mode: { enum: ["fast", 1, null] },
    },
    required: ["query"],
    additionalProperties: false,
    $defs: { path: { type: "string" } },
  };
  expect(toolSchema(schema)).toEqual(schema);
  expect(await complaints(schema)).toEqual([]);
});

test.each<[said: string, schema: unknown, properties: object, required?: string[]]>([
  ["nothing", {}, {}],
  ["no object", null, {}],
  ["another type", { type: "string" }, {}],
  ["an object or null", { type: ["object", "null"], properties: { a: { type: "string" } } }, { a: { type: "string" } }],
  [
    "alternatives at the top",
    {
      oneOf: [
        { properties: { a: { type: "string" } }, required: ["a"] },
        { properties: { b: { type: "string" } }, required: ["b"] },
      ],
      required: ["c"],
      properties: { c: {} },
    },
    { a: { type: "string" }, b: { type: "string" }, c: {} },
    ["c"],
  ],
  [
    "parts at the top",
    {
      allOf: [{ $ref: "#/$defs/a~1b" }, { required: ["c"] }],
      $defs: { "a/b": { properties: { a: {} }, required: ["a"] } },
    },
    { a: {} },
    ["a", "c"],
  ],
  ["a reference at the top", { $ref: "#/definitions/A", definitions: { A: { properties: { a: {} } } } }, { a: {} }],
  ["a reference to itself", { allOf: Array(40).fill({ $ref: "#" }), properties: { a: {} } }, { a: {} }],
  ["a list without items", { properties: { a: { type: "array" } } }, { a: { type: "array", items: {} } }],
  [
    "items one by one",
    { properties: { a: { type: "array", items: [{ type: "string" }] } } },
    { a: { type: "array", prefixItems: [{ type: "string" }] } },
  ],
  [
    "keywords that hold nonsense",
    {
      properties: {
        a: {
          type: "text",
          minLength: -1,
          pattern: "(",
          enum: [],
          required: "b",
          anyOf: [],
          $ref: "#/nowhere",
          title: 7,
        },
        b: 7,
        c: true,
        d: { type: ["string", "any", "string"], items: 3, additionalProperties: "no", properties: [] },
      },
      required: ["a", "a", 7],
    },
    { a: {}, b: {}, c: true, d: { type: ["string"] } },
    ["a"],
  ],
])("a schema that says %s is made one of an object", async (_, schema, properties, required) => {
  const { properties: made, required: needed, type } = toolSchema(schema as Parameters);
  expect({ type, properties: made, required: needed }).toEqual({ type: "object", properties, required });
  expect(await complaints(schema as Parameters)).toEqual([]);
});

test("whatever a schema holds, the service takes it", async () => {
  const value = fc.oneof(
    { depthSize: "small" },
    fc.constantFrom("object", "array", "#/$defs/a", "(", "a"),
    fc.jsonValue(),
  );
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { depthSize: "small", maxDepth: 3 },
      value,
      fc.dictionary(
        fc.constantFrom(
          "type",
          "items",
          "prefixItems",
          "required",
          "enum",
          "pattern",
          "$ref",
          "minLength",
          "minimum",
          "title",
          "default",
        ),
        fc.oneof(value, tie("schema")),
      ),
      fc.record(
        {
          type: fc.constantFrom("object", "array", ["object"], 7),
          properties: fc.dictionary(fc.constantFrom("a", "b", "__proto__", "type"), tie("schema")),
          anyOf: fc.array(tie("schema"), { maxLength: 2 }),
          allOf: fc.array(tie("schema"), { maxLength: 2 }),
          $defs: fc.dictionary(fc.constantFrom("a", "b"), tie("schema")),
          not: tie("schema"),
          additionalProperties: tie("schema"),
        },
        { requiredKeys: [] },
      ),
    ),
  }));
  const schemas = fc.sample(schema, { numRuns: 200 }) as Parameters[];
  expect(await complaints(...schemas)).toEqual([]);
});
