import type { LanguageModelV3FunctionTool } from "@ai-sdk/provider";
import type { ToolDefinition } from "../../../omnimessage/message.ts";
import { isJsonObject } from "../../json-value.ts";
import { objectSchema } from "../tool-schema/object-schema.ts";
import { readableSchema, type Schema } from "../tool-schema/readable-schema.ts";

/**
 * A tool's parameters as the service takes them: an object at the top, with plain property names. Properties whose names
 * the service refuses are told in the description: the model may give them all the same.
 */
export function toolSchema(parameters: ToolDefinition["parameters"]): LanguageModelV3FunctionTool["inputSchema"] {
  const schema = objectSchema(parameters);
  return withPlainNames(readableSchema(schema, schema)) as LanguageModelV3FunctionTool["inputSchema"];
}

const PLAIN_NAME = /^[\w.-]{1,64}$/;

function withPlainNames(schema: Schema): Schema {
  const properties = Object.entries(isJsonObject(schema.properties) ? schema.properties : {});
  const odd = properties.filter(([name]) => !PLAIN_NAME.test(name));
  const required = Array.isArray(schema.required) && schema.required.filter((name) => PLAIN_NAME.test(name));
  const plain: Schema = { ...schema, ...(required && { required }) };
  if (odd.length === 0) return plain;
  const { additionalProperties: _, description, ...rest } = plain;
  const also = `It also takes these properties: ${JSON.stringify(Object.fromEntries(odd))}`;
  return {
    ...rest,
    description: description === undefined ? also : `${description} ${also}`,
    properties: Object.fromEntries(properties.filter(([name]) => PLAIN_NAME.test(name))),
  };
}
