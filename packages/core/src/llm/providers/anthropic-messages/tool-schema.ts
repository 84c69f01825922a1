import type { LanguageModelV3FunctionTool } from "@ai-sdk/provider";
import type { ToolDefinition } from "../../../omnimessage/message.ts";
import { isJsonObject } from "../../json-value.ts";
import { targetOf } from "../schema-reference.ts";
import { readableSchema, type Schema } from "./readable-schema.ts";

/**
 * A tool's parameters as the service takes them: a JSON Schema of draft 2020-12 with an object at its top, without
 * alternatives there, and with plain property names. Arguments are still checked against the schema as it was.
 *
 * Alternatives at the top become one object with the properties of all, of which those are required that all require.
 * Properties whose names the service refuses are told in the description: the model may give them all the same.
 */
export function toolSchema(parameters: ToolDefinition["parameters"]): LanguageModelV3FunctionTool["inputSchema"] {
  const { allOf, anyOf, oneOf, ...top } = readableSchema(parameters, parameters);
  const objects = (list: unknown): Schema[] => objectsOf(list, parameters);
  const parts = objects(allOf);
  const choices = [objects(anyOf), objects(oneOf)].filter((branches) => branches.length > 0);
  const properties = Object.assign({}, ...[...choices.flat(), ...parts, top].map((part) => propertiesOf(part)));
  const required = [
    ...[...parts, top].flatMap(requiredOf),
    ...choices.flatMap((branches) =>
      requiredOf(branches[0] ?? {}).filter((name) => branches.every((branch) => requiredOf(branch).includes(name))),
    ),
  ];
  return { ...withPlainNames(top, properties, [...new Set(required)]), type: "object" };
}

const PLAIN_NAME = /^[\w.-]{1,64}$/;

function withPlainNames(top: Schema, properties: Schema, required: readonly string[]): Schema {
  const entries = Object.entries(properties);
  const odd = entries.filter(([name]) => !PLAIN_NAME.test(name));
  const { additionalProperties, ...rest } = top;
  const also = `It also takes these properties: ${JSON.stringify(Object.fromEntries(odd))}`;
  return {
    ...rest,
    ...(additionalProperties !== undefined && odd.length === 0 && { additionalProperties }),
    ...(odd.length > 0 && { description: rest.description === undefined ? also : `${rest.description} ${also}` }),
    properties: Object.fromEntries(entries.filter(([name]) => PLAIN_NAME.test(name))),
    ...(required.length > 0 && { required: required.filter((name) => PLAIN_NAME.test(name)) }),
  };
}

/** The schemas of a list, references followed. */
function objectsOf(list: unknown, root: Schema): Schema[] {
  return (Array.isArray(list) ? list : []).filter(isJsonObject).map((schema) => {
    const target = typeof schema.$ref === "string" ? targetOf(root, schema.$ref) : undefined;
    return isJsonObject(target) ? readableSchema(target, root) : schema;
  });
}

function propertiesOf({ properties }: Schema): Schema {
  return isJsonObject(properties) ? properties : {};
}

function requiredOf({ required }: Schema): string[] {
  return Array.isArray(required) ? required : [];
}
