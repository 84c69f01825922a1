import fc from "fast-check";
import { expect, test } from "vitest";
import { modelOver, noComplaints, strict } from "../../../../test/support/adapter-kit.ts";
import { ask } from "../../../../test/support/ask.ts";
import { CLIENT_TYPES } from "../../../../test/support/post-request.ts";
import type { ToolDefinition } from "../../../omnimessage/message.ts";

const SEARCH = {
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

const PATH = {
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

test.each<["openai-chat" | "openai-responses" | "anthropic-messages", (tool: { [field: string]: object }) => unknown]>([
  ["openai-chat", ({ function: offered = {} }) => Reflect.get(offered, "parameters")],
  ["openai-responses", ({ parameters }) => parameters],
  ["anthropic-messages", ({ input_schema }) => input_schema],
])("schemas that a service takes go out over %s as they are, to the byte", async (clientType, schemaOf) => {
  const tools = [SEARCH, PATH].map((parameters, i) => ({ name: `t${i}`, description: "", parameters }));
  const server = await strict(["ok"]);
  await ask(modelOver(clientType)(server, { tools }));
  const sent = server.log[0]?.body.tools.map((tool: { [field: string]: object }) => JSON.stringify(schemaOf(tool)));
  expect(sent).toEqual([JSON.stringify(SEARCH), JSON.stringify(PATH)]);
  noComplaints(server);
});

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
const SCHEMAS = fc.sample(schema, { numRuns: 200 }) as ToolDefinition["parameters"][];

test.each(CLIENT_TYPES)("whatever a schema holds, the service takes it over %s", async (clientType) => {
  const tools = SCHEMAS.map((parameters, i) => ({ name: `t${i}`, description: "", parameters }));
  const server = await strict(["ok", "ok"]);
  for (const half of [tools.slice(0, 100), tools.slice(100)]) {
    const { outcome } = await ask(modelOver(clientType)(server, { tools: half }));
    noComplaints(server);
    expect(outcome.status).toBe("completed");
  }
});
