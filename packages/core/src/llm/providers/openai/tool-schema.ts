import type { LanguageModelV3FunctionTool } from "@ai-sdk/provider";
import type { ToolDefinition } from "../../../omnimessage/message.ts";
import { isJsonObject } from "../../json-value.ts";
import { targetOf } from "../schema-reference.ts";

type Schema = Record<string, unknown>;

/**
 * The parameters of a tool as the service takes them: an object at the top, without alternatives or conditions on the
 * whole, and no keyword whose value is not what it must be. What is left out only makes the schema wider: the arguments are
 * checked against the original when the tool is called.
 */
export function toolSchema(parameters: ToolDefinition["parameters"]): LanguageModelV3FunctionTool["inputSchema"] {
  const root: Schema = isJsonObject(parameters) ? parameters : {};
  const { properties, required } = membersOf(root, root, new Set());
  const rest = Object.entries(root).filter(([key]) => !NOT_AT_THE_TOP.has(key));
  const schema = {
    ...Object.fromEntries(rest),
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
  };
  return clean(schema, schema) as LanguageModelV3FunctionTool["inputSchema"];
}

const NOT_AT_THE_TOP: ReadonlySet<string> = new Set(["oneOf", "anyOf", "allOf", "enum", "const", "not", "$ref"]);

/** The properties of an object in all its forms, and those that every form requires; each schema counts once. */
function membersOf(node: unknown, root: Schema, seen: Set<unknown>): { properties: Schema; required: string[] } {
  if (!isJsonObject(node) || seen.has(node)) return { properties: {}, required: [] };
  seen.add(node);
  const inAll = listOf(node.allOf);
  if (typeof node.$ref === "string") inAll.push(targetOf(root, node.$ref));
  const always = inAll.map((part) => membersOf(part, root, seen));
  const choices = [node.anyOf, node.oneOf].flatMap(listOf).map((part) => membersOf(part, root, seen));
  const properties = Object.assign(
    {},
    ...[...choices, ...always].map((part) => part.properties),
    isJsonObject(node.properties) ? node.properties : {},
  );
  const required = [...namesIn(node.required), ...always.flatMap((part) => part.required)];
  return { properties, required: [...new Set(required)] };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? [...value] : [];
}

function namesIn(value: unknown): string[] {
  return listOf(value).filter((name) => typeof name === "string");
}

/** The same schema without keywords whose values no validator takes. */
function clean(node: unknown, root: Schema): unknown {
  if (typeof node === "boolean") return node;
  if (!isJsonObject(node)) return {};
  const cleaned: Schema = {};
  for (const [key, value] of Object.entries(node)) {
    const fit = Object.hasOwn(KEYWORDS, key) ? KEYWORDS[key]?.(value, root) : value;
    if (fit !== undefined) cleaned[key] = fit;
  }
  if (Array.isArray(node.items)) {
    delete cleaned.items;
    cleaned.prefixItems ??= schemaList(node.items, root);
  }
  if (cleaned.type === "array" && cleaned.items === undefined && cleaned.prefixItems === undefined) cleaned.items = {};
  return cleaned;
}

type Fit = (value: unknown, root: Schema) => unknown;

const schema: Fit = (value, root) =>
  typeof value === "boolean" || isJsonObject(value) ? clean(value, root) : undefined;
const schemaList: Fit = (value, root) =>
  Array.isArray(value) && value.length > 0 ? value.map((node) => clean(node, root)) : undefined;
const schemaMap: Fit = (value, root) =>
  isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, node]) => [name, clean(node, root)]))
    : undefined;
const text: Fit = (value) => (typeof value === "string" ? value : undefined);
const number: Fit = (value) => (typeof value === "number" ? value : undefined);
const count: Fit = (value) => (Number.isInteger(value) && Number(value) >= 0 ? value : undefined);

const KEYWORDS: Readonly<Record<string, Fit>> = {
  ...keywords(schema, "not if then else contains propertyNames unevaluatedItems unevaluatedProperties"),
  ...keywords(schema, "additionalProperties items"),
  ...keywords(schemaList, "allOf anyOf oneOf prefixItems"),
  ...keywords(schemaMap, "properties patternProperties $defs definitions dependentSchemas"),
  ...keywords(text, "title description format $id $comment"),
  ...keywords(number, "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
  ...keywords(count, "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains"),
  type: fitType,
  enum: (value) => (Array.isArray(value) && value.length > 0 ? value : undefined),
  required: (value) => (Array.isArray(value) ? [...new Set(namesIn(value))] : undefined),
  pattern: (value) => (typeof value === "string" && isPattern(value) ? value : undefined),
  $ref: (value, root) =>
    typeof value === "string" && (!value.startsWith("#") || targetOf(root, value) !== undefined) ? value : undefined,
};

function keywords(fit: Fit, names: string): Record<string, Fit> {
  return Object.fromEntries(names.split(" ").map((name) => [name, fit]));
}

const TYPES: readonly unknown[] = ["string", "number", "integer", "boolean", "object", "array", "null"];

function fitType(value: unknown): unknown {
  if (!Array.isArray(value)) return TYPES.includes(value) ? value : undefined;
  const known = [...new Set(value)].filter((type) => TYPES.includes(type));
  return known.length > 0 ? known : undefined;
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source) instanceof RegExp;
  } catch {
    return /\\[pP]\{/.test(source) && isUnicodePattern(source);
  }
}

function isUnicodePattern(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
