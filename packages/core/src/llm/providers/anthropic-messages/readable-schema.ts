import { isJsonObject } from "../../json-value.ts";
import { targetOf } from "../schema-reference.ts";

export type Schema = Readonly<Record<string, unknown>>;

/**
 * A schema of any draft as one of draft 2020-12 that a strict reader accepts: tuples under `prefixItems`, bounds as numbers,
 * and without the keywords whose values say nothing in that draft. It is looser than the schema it was made of, if anything.
 *
 * @param root - What references point into.
 */
export function readableSchema(schema: Schema, root: Schema): Schema {
  const entries = Object.entries(withBounds(withPrefixItems(schema)));
  return Object.fromEntries(
    entries.flatMap(([keyword, value]) => {
      const readable = readKeyword(keyword, value, root);
      return readable === undefined ? [] : [[keyword, readable]];
    }),
  );
}

/** @returns `undefined` for a value that the keyword does not take. */
function readKeyword(keyword: string, value: unknown, root: Schema): unknown {
  if (SUBSCHEMAS.has(keyword)) return subschema(value, root);
  if (LISTS.has(keyword))
    return Array.isArray(value) && value.length > 0 ? value.map((item) => subschema(item, root) ?? true) : undefined;
  if (MAPS.has(keyword)) {
    if (!isJsonObject(value)) return undefined;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, subschema(item, root) ?? true]));
  }
  const isTaken = TAKEN[keyword];
  if (keyword === "type") return readType(value);
  if (keyword === "required")
    return Array.isArray(value) ? [...new Set(value.filter((name) => typeof name === "string"))] : undefined;
  if (keyword === "$ref")
    return typeof value === "string" && (!value.startsWith("#/") || targetOf(root, value) !== undefined)
      ? value
      : undefined;
  return !isTaken || isTaken(value) ? value : undefined;
}

function subschema(value: unknown, root: Schema): unknown {
  if (typeof value === "boolean") return value;
  return isJsonObject(value) ? readableSchema(value, root) : undefined;
}

const SUBSCHEMAS = new Set(
  "items additionalItems additionalProperties unevaluatedItems unevaluatedProperties contains propertyNames not if then else".split(
    " ",
  ),
);
const LISTS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

function readType(value: unknown): unknown {
  const named = (Array.isArray(value) ? value : [value]).filter((type) => TYPES.has(type));
  const types = [...new Set(named)];
  return types.length > 1 ? types : types[0];
}

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number";
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;

/** What other keywords take; one that is not listed takes anything. */
const TAKEN: Readonly<Record<string, (value: unknown) => boolean>> = {
  enum: (value) => Array.isArray(value) && value.length > 0,
  pattern: isPattern,
  ...Object.fromEntries(["title", "description", "format", "$id", "$comment", "$schema"].map((name) => [name, isText])),
  ...Object.fromEntries(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].map((name) => [name, isNumber])),
  multipleOf: (value) => isNumber(value) && Number(value) > 0,
  ...Object.fromEntries(
    "minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties"
      .split(" ")
      .map((name) => [name, isCount]),
  ),
};

function isPattern(value: unknown): boolean {
  try {
    return typeof value === "string" && new RegExp(value) instanceof RegExp;
  } catch {
    return false;
  }
}

/** A list of items is a tuple; what follows it had a keyword of its own. */
function withPrefixItems(schema: Schema): Schema {
  if (!Array.isArray(schema.items)) return schema;
  const { items, additionalItems, ...rest } = schema;
  return { ...rest, prefixItems: items, ...(additionalItems !== undefined && { items: additionalItems }) };
}

/** An exclusive bound used to be a yes or no beside the bound. */
function withBounds(schema: Schema): Schema {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  return {
    ...rest,
    ...(exclusiveMinimum === true ? { exclusiveMinimum: minimum } : { minimum, exclusiveMinimum }),
    ...(exclusiveMaximum === true ? { exclusiveMaximum: maximum } : { maximum, exclusiveMaximum }),
  };
}
