import { expect, test } from "vitest";
import { modelOver, strict } from "../../../../test/support/adapter-kit.ts";
import { ask } from "../../../../test/support/ask.ts";
import type { ToolDefinition } from "../../../omnimessage/message.ts";
import { toolSchema } from "./tool-schema.ts";

type Parameters = ToolDefinition["parameters"];

/** What a server that is as strict as the service has to say of these parameters. */
async function complaints(...parameters: Parameters[]): Promise<readonly unknown[]> {
  const server = await strict(["ok"]);
  const tools = parameters.map((schema, i) => ({ name: `t${i}`, description: "", parameters: schema }));
  const { outcome } = await ask(modelOver("openai-responses")(server, { tools }));
  if (server.violations.length === 0) expect(outcome.status).toBe("completed");
  return server.violations;
}

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
