import type { LanguageModelV3FunctionTool } from "@ai-sdk/provider";
import { merged, type PlainSchema, resolveSchema } from "./resolve-schema.ts";
import { writeSchema } from "./write-schema.ts";
import { verbatim } from "./written-body.ts";

/**
 * The parameters of a tool as the service takes them: in its own `Schema`, which every version and gateway knows, or, where
 * that has no words for them (an object of any properties, a list or value of anything), as JSON Schema. A tool without
 * parameters has none.
 */
export function toolSchema(parameters: unknown): LanguageModelV3FunctionTool["inputSchema"] {
  const schema = rootObject(resolveSchema(parameters));
  const isEmpty = Object.keys(schema.properties ?? {}).length === 0;
  if (isEmpty && !schema.additionalProperties) return { type: "object", properties: {} };
  const written = writeSchema(schema);
  const fields = written ? { parameters: written } : { parametersJsonSchema: schema };
  return verbatim(JSON.stringify(fields).slice(1, -1));
}

/** One object: of alternatives all the properties, of which those are required that all of them require. */
function rootObject({ anyOf = [], enum: _, ...schema }: PlainSchema): PlainSchema {
  const properties = anyOf.reduce<PlainSchema>(merged, {}).properties;
  const [first, ...others] = anyOf.map((each) => each.required ?? []);
  const required = (first ?? []).filter((name) => others.every((names) => names.includes(name)));
  const together = { ...(properties && { properties }), ...(required.length > 0 && { required }) };
  return { ...merged(together, schema), type: "object" };
}
