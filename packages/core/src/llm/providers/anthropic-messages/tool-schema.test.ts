import { expect, test } from "vitest";
import { toolSchema } from "./tool-schema.ts";

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
