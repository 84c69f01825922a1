import { isJsonObject } from "../../json-value.ts";
import { targetOf } from "./schema-reference.ts";

export type Schema = Readonly<Record<string, unknown>>;

/**
 * A schema of any draft as one of draft 2020-12 that a strict reader accepts; one that is fine already stays as it is, to
 * the order of its keywords. It is looser than the schema it was made of, if anything: arguments are checked against that
 * one when a tool is called.
 *
 * @param root - What references point into.
 * @param finish - The last to change each schema, from the inmost to the whole; default: leaves them as they are.
 */
export function readableSchema(schema: Schema, root: Schema, finish = (node: Schema): Schema => node): Schema {
  const below = (value: unknown): unknown => (isJsonObject(value) ? readableSchema(value, root, finish) : value);
  return finish(readableNode(schema, root, below));
}

/**
 * One schema of a whole: tuples under `prefixItems`, bounds as numbers, and no keyword whose value says nothing in its
 * draft. What is no schema where one must be, in a list or under a name, is one of anything.
 *
 * @param below - What takes the place of each schema that it holds.
 */
export function readableNode(schema: Schema, root: unknown, below: (value: unknown) => unknown): Schema {
  return Object.fromEntries(
    Object.entries(withoutOldKeywords(schema)).flatMap(([keyword, value]) => {
      const read = KEYWORDS.get(keyword);
      const readable = read ? read(value, below, root) : value;
      return readable === undefined ? [] : [[keyword, readable]];
    }),
  );
}

/** A list of items is a tuple, with what follows it under a name of its own; an exclusive bound was a yes or no. */
function withoutOldKeywords(schema: Schema): Schema {
  const { items, additionalItems, minimum, maximum } = schema;
  const given = schema.prefixItems;
  return {
    ...schema,
    ...(Array.isArray(items) && {
      items: additionalItems,
      additionalItems: undefined,
      prefixItems: isFilled(given) ? given : items,
    }),
    ...(schema.exclusiveMinimum === true && { exclusiveMinimum: minimum, minimum: undefined }),
    ...(schema.exclusiveMaximum === true && { exclusiveMaximum: maximum, maximum: undefined }),
  };
}

/** @returns `undefined` for a value that says nothing. */
type Read = (value: unknown, below: (value: unknown) => unknown, root: unknown) => unknown;

const taken = (isTaken: (value: unknown) => boolean): Read => {
  return (value) => (isTaken(value) ? value : undefined);
};
const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";
const isFilled = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > 0;
const isSchema = (value: unknown): boolean => typeof value === "boolean" || isJsonObject(value);

const oneSchema: Read = (value, below) => (isSchema(value) ? below(value) : undefined);
const anySchema: Read = (value, below) => (isSchema(value) ? below(value) : {});
const schemaList: Read = (value, below, root) =>
  isFilled(value) ? value.map((item) => anySchema(item, below, root)) : undefined;
const schemaMap: Read = (value, below, root) =>
  isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, anySchema(item, below, root)]))
    : undefined;

const TYPES: readonly unknown[] = ["string", "number", "integer", "boolean", "object", "array", "null"];
const types: Read = (value) => {
  if (!Array.isArray(value)) return TYPES.includes(value) ? value : undefined;
  const known = [...new Set(value)].filter((type) => TYPES.includes(type));
  return known.length > 0 ? known : undefined;
};

/** Keywords that are not here take anything. */
const KEYWORDS: ReadonlyMap<string, Read> = new Map<string, Read>([
  ...keywords(oneSchema, "items additionalItems additionalProperties unevaluatedItems unevaluatedProperties"),
  ...keywords(oneSchema, "contains propertyNames not if then else"),
  ...keywords(schemaList, "allOf anyOf oneOf prefixItems"),
  ...keywords(schemaMap, "properties patternProperties $defs definitions dependentSchemas"),
  ...keywords(taken(isText), "title description format $id $comment $schema"),
  ...keywords(taken(isNumber), "minimum maximum exclusiveMinimum exclusiveMaximum"),
  ...keywords(
    taken((value) => isNumber(value) && Number.isInteger(value) && value >= 0),
    "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
  ),
  ["multipleOf", taken((value) => isNumber(value) && value > 0)],
  ["enum", taken(isFilled)],
  ["pattern", taken((value) => isText(value) && (isPattern(value, "u") || isPattern(value)))],
  ["required", (value) => (Array.isArray(value) ? [...new Set(value.filter(isText))] : undefined)],
  ["type", types],
  ["$ref", (value, _, root) => (isText(value) && leadsSomewhere(value, root) ? value : undefined)],
]);

function keywords(read: Read, names: string): [string, Read][] {
  return names.split(" ").map((name) => [name, read]);
}

function isPattern(source: string, flags?: string): boolean {
  try {
    return new RegExp(source, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

function leadsSomewhere(reference: string, root: unknown): boolean {
  return !reference.startsWith("#") || targetOf(root, reference) !== undefined;
}
