import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collectReply } from "../../../../test/support/collect-reply.ts";
import { type StrictServer, startStrictServer } from "../../../../test/support/strict-server.ts";
import { userText } from "../../../omnimessage/build.ts";
import type { ToolDefinition } from "../../../omnimessage/message.ts";
import { GenerativeModel } from "../../generative-model.ts";

let server: StrictServer;
beforeAll(async () => {
  server = await startStrictServer({ scripts: { turns: ["ok"], loop: true } });
});
afterAll(() => server.close());

/** The declaration of a tool with these parameters, as the strict server took it. */
async function declared(parameters: unknown): Promise<Record<string, unknown>> {
  const tool = { name: "t", description: "A tool.", parameters: parameters as ToolDefinition["parameters"] };
  const llm = new GenerativeModel({ modelId: "gemini-3-flash", apiKey: "k", baseUrl: server.url, tools: [tool] });
  const { outcome } = await collectReply(llm, { newMessages: [userText("go")] });
  expect(outcome).toEqual({ status: "completed", finishReason: "stop" });
  expect(server.violations).toEqual([]);
  const { name: _, description: __, ...rest } = server.log.at(-1)?.body.tools[0].functionDeclarations[0] ?? {};
  return rest;
}

/** How one property of the parameters is declared. */
async function property(schema: unknown, more: object = {}): Promise<unknown> {
  const { parameters } = await declared({ type: "object", properties: { p: schema }, ...more });
  return (parameters as { properties?: { p: unknown } } | undefined)?.properties?.p;
}

test("a tool without parameters is declared without", async () => {
  for (const parameters of [
    {},
    { type: "object" },
    { type: "object", properties: {}, additionalProperties: false },
    true,
  ]) {
    expect(await declared(parameters)).toEqual({});
  }
});

test("what Schema can say is said in it: constraints, defaults, titles, lists and objects", async () => {
  const parameters = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    additionalProperties: false,
    description: "All.",
    properties: {
      path: { type: "string", title: "Path", minLength: 1, maxLength: 9, pattern: "^/", default: "/" },
      lines: { type: "array", items: { type: "integer", minimum: 1, maximum: 9 }, minItems: 1, maxItems: 3 },
      when: { type: "string", format: "date-time" },
      deep: { type: "object", properties: { on: { type: "boolean" } }, required: ["on", "missing"] },
    },
    required: ["path", "unknown", "path"],
  };
  expect(await declared(parameters)).toEqual({
    parameters: {
      type: "OBJECT",
      description: "All.",
      properties: {
        path: { type: "STRING", title: "Path", default: "/", minLength: 1, maxLength: 9, pattern: "^/" },
        lines: { type: "ARRAY", items: { type: "INTEGER", minimum: 1, maximum: 9 }, minItems: 1, maxItems: 3 },
        when: { type: "STRING", format: "date-time" },
        deep: { type: "OBJECT", properties: { on: { type: "BOOLEAN" } }, required: ["on"] },
      },
      required: ["path"],
    },
  });
});

test.each<[string, unknown, unknown]>([
  ["a constant", { const: "a" }, { type: "STRING", enum: ["a"] }],
  ["a list of texts", { enum: ["a", "b"] }, { type: "STRING", enum: ["a", "b"] }],
  ["a list of texts and null", { enum: ["a", null] }, { type: "STRING", nullable: true, enum: ["a"] }],
  ["a list of numbers", { type: "integer", enum: [1, 2] }, { type: "INTEGER", description: "One of 1, 2." }],
  ["a list with an empty text", { enum: ["", "a"] }, { type: "STRING", description: 'One of "", "a".' }],
  ["a constant that is true", { const: true }, { type: "BOOLEAN", description: "One of true." }],
  [
    "a list of several kinds",
    { enum: ["a", 1] },
    {
      anyOf: [
        { type: "STRING", enum: ["a"] },
        { type: "INTEGER", description: "One of 1." },
      ],
    },
  ],
  ["a type or null", { type: ["string", "null"] }, { type: "STRING", nullable: true }],
  ["null as OpenAPI writes it", { type: "string", nullable: true }, { type: "STRING", nullable: true }],
  ["several types", { type: ["string", "integer"] }, { anyOf: [{ type: "STRING" }, { type: "INTEGER" }] }],
  [
    "several types or null",
    { type: ["string", "number", "null"], description: "It." },
    {
      anyOf: [
        { type: "STRING", description: "It.", nullable: true },
        { type: "NUMBER", description: "It.", nullable: true },
      ],
    },
  ],
  ["null alone", { type: "null", description: "No." }, { type: "NULL", description: "No." }],
  [
    "one alternative or null",
    { anyOf: [{ type: "string", maxLength: 3 }, { type: "null" }], description: "It.", default: null },
    { type: "STRING", nullable: true, description: "It.", default: null, maxLength: 3 },
  ],
  [
    "alternatives within alternatives",
    { oneOf: [{ type: "string" }, { anyOf: [{ type: "integer" }, { type: "null" }] }] },
    { anyOf: [{ type: "STRING" }, { type: "INTEGER", nullable: true }] },
  ],
  [
    "alternatives beside properties",
    {
      type: "object",
      properties: { a: { type: "string" } },
      anyOf: [{ required: ["a"] }, { properties: { b: { type: "boolean" } } }],
    },
    {
      anyOf: [
        { type: "OBJECT", properties: { a: { type: "STRING" } }, required: ["a"] },
        { type: "OBJECT", properties: { a: { type: "STRING" }, b: { type: "BOOLEAN" } } },
      ],
    },
  ],
  [
    "all of several",
    { allOf: [{ type: "string", minLength: 1 }, { maxLength: 2 }], description: "Both." },
    { type: "STRING", description: "Both.", minLength: 1, maxLength: 2 },
  ],
  [
    "a format that is not known",
    { type: "string", format: "uri", description: "Where." },
    { type: "STRING", description: "Where. Format: uri." },
  ],
  [
    "limits that are not included",
    { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 9 },
    { type: "INTEGER", minimum: 1, maximum: 8 },
  ],
  [
    "limits of a number that are not included",
    { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
    { type: "NUMBER", description: "Greater than 0. Less than 1.", minimum: 0, maximum: 1 },
  ],
  [
    "a tuple",
    { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }] },
    { type: "ARRAY", items: { anyOf: [{ type: "STRING" }, { type: "INTEGER" }] }, minItems: 2, maxItems: 2 },
  ],
  [
    "a tuple as older drafts write it",
    { items: [{ type: "string" }, { type: "string" }] },
    { type: "ARRAY", items: { type: "STRING" }, minItems: 2, maxItems: 2 },
  ],
  [
    "no type but what implies it",
    { properties: { a: { minLength: 1 } } },
    { type: "OBJECT", properties: { a: { type: "STRING", minLength: 1 } } },
  ],
  [
    "values that make no sense",
    { type: ["string", "text"], minLength: -1, pattern: "(", title: 5, enum: [] },
    { type: "STRING" },
  ],
])("%s is declared in Schema", async (_, schema, written) => {
  expect(await property(schema)).toEqual(written);
});

test("references are followed, escaped ones too, and what stands beside them holds", async () => {
  const $defs = {
    "a/b~c d": { type: "string", description: "Theirs." },
    Node: { type: "object", properties: { v: { $ref: "#/$defs/a~1b~0c%20d" } } },
  };
  expect(await property({ $ref: "#/$defs/Node", description: "Ours." }, { $defs })).toEqual({
    type: "OBJECT",
    description: "Ours.",
    properties: { v: { type: "STRING", description: "Theirs." } },
  });
});

test.each<[string, unknown, unknown]>([
  ["an object of any properties", { type: "object", description: "Any." }, { type: "object", description: "Any." }],
  [
    "a map",
    { type: "object", additionalProperties: { type: ["string", "null"] } },
    { type: "object", additionalProperties: { type: ["string", "null"] } },
  ],
  ["a list of anything", { type: "array", uniqueItems: true }, { type: "array" }],
  ["anything", { description: "Any.", $comment: "x" }, { description: "Any." }],
  [
    "a reference that leads nowhere",
    { $ref: "https://example.com/x.json", description: "Far." },
    { description: "Far." },
  ],
])("%s, for which Schema has no words, makes the tool's parameters JSON Schema", async (_, schema, written) => {
  expect(await declared({ type: "object", properties: { p: schema }, required: ["p"] })).toEqual({
    parametersJsonSchema: { type: "object", properties: { p: written }, required: ["p"] },
  });
});

test("a schema that holds itself is unrolled twice", async () => {
  const $defs = { Tree: { type: "object", properties: { name: { type: "string" }, left: { $ref: "#/$defs/Tree" } } } };
  const node = (left: object): object => ({ type: "object", properties: { name: { type: "string" }, left } });
  expect(await declared({ type: "object", properties: { root: { $ref: "#/$defs/Tree" } }, $defs })).toEqual({
    parametersJsonSchema: { type: "object", properties: { root: node(node({})) } },
  });
  const root = { type: "object", properties: { child: { $ref: "#" } } };
  expect(JSON.stringify(await declared(root)).length).toBeLessThan(300);
});

test("alternatives at the root become one object: all properties, required where all require them", async () => {
  const one = (name: string): object => ({
    type: "object",
    properties: { kind: { const: name }, [name]: { type: "string" } },
    required: ["kind", name],
  });
  expect(await declared({ oneOf: [one("a"), one("b")] })).toEqual({
    parameters: {
      type: "OBJECT",
      properties: { kind: { type: "STRING", enum: ["b"] }, a: { type: "STRING" }, b: { type: "STRING" } },
      required: ["kind"],
    },
  });
});

test("a schema that grows without end, or is nested without end, stays small", async () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 12 }, (_, n) => [
      `n${n}`,
      {
        type: "object",
        properties: Object.fromEntries([..."abcd"].map((name) => [name, { $ref: `#/$defs/n${(n + 1) % 12}` }])),
      },
    ]),
  );
  expect(JSON.stringify(await declared({ $ref: "#/$defs/n0", $defs })).length).toBeLessThan(200_000);
  let deep: object = { type: "string" };
  for (let n = 0; n < 3000; n += 1) deep = { type: "array", items: deep };
  expect(JSON.stringify((await property(deep)) ?? {}).length).toBeLessThan(2000);
});

test("any JSON value for a schema is declared in a form that is taken", async () => {
  const keyword = fc.constantFrom(
    ...["type", "properties", "items", "anyOf", "oneOf", "allOf", "enum", "const", "$ref", "required", "format"],
    ...["additionalProperties", "prefixItems", "minLength", "minimum", "pattern", "description", "nullable", "not"],
  );
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(
        "string",
        "object",
        "array",
        "null",
        "integer",
        1,
        -1,
        true,
        null,
        "#",
        "#/properties/p",
        "(",
      ),
      fc.array(tie("schema"), { maxLength: 3 }),
      fc.dictionary(fc.oneof({ weight: 6, arbitrary: keyword }, { weight: 1, arbitrary: fc.string() }), tie("schema"), {
        maxKeys: 4,
      }),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(schema, async (value) => void (await property(value))),
    { numRuns: 300 },
  );
});
