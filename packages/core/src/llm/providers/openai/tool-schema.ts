import type { LanguageModelV3FunctionTool } from "@ai-sdk/provider";
import type { ToolDefinition } from "../../../omnimessage/message.ts";
import { objectSchema } from "../tool-schema/object-schema.ts";
import { readableSchema, type Schema } from "../tool-schema/readable-schema.ts";

/**
 * The parameters of a tool as the service takes them: an object at the top, without alternatives or conditions on the
 * whole, and with items in every list.
 */
export function toolSchema(parameters: ToolDefinition["parameters"]): LanguageModelV3FunctionTool["inputSchema"] {
  const { enum: _, const: __, not: ___, $ref: ____, ...schema } = objectSchema(parameters);
  return readableSchema(schema, schema, withItems) as LanguageModelV3FunctionTool["inputSchema"];
}

function withItems(schema: Schema): Schema {
  const { type, items, prefixItems } = schema;
  return type === "array" && items === undefined && prefixItems === undefined ? { ...schema, items: {} } : schema;
}
