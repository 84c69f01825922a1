import { isRecord } from "../omnimessage/shape.ts";
import { schemaParts } from "./schema-parts.ts";

type JsonType = "string" | "integer" | "number" | "boolean" | "null" | "object" | "array";

/**
 * Brings what models often get wrong into the types a schema wants, and nothing else: a string becomes an integer, a
 * number or a boolean where one of these is wanted and a string is not, and `null` for an optional property counts as
 * absent unless the schema takes `null`. Properties of objects and items of lists are converted likewise, also where a
 * local `$ref` or an `allOf` says what they are.
 *
 * @returns A copy; the arguments given stay as they are.
 */
export function convertArguments(schema: unknown, args: Record<string, unknown>): Record<string, unknown> {
  return convertObject(schema, schema, args);
}

function convertObject(root: unknown, schema: unknown, args: Record<string, unknown>): Record<string, unknown> {
  const parts = schemaParts(root, schema);
  const isRequired = (name: string): boolean =>
    parts.some(({ required }) => Array.isArray(required) && required.includes(name));
  return Object.fromEntries(
    Object.entries(args).flatMap(([name, value]) => {
      const wanted = allOf(parts.map(({ properties }) => ownValue(properties, name)));
      if (value === null && !isRequired(name) && !accepts(root, wanted, "null")) return [];
      return [[name, convert(root, wanted, value)]];
    }),
  );
}

function convert(root: unknown, schema: unknown, value: unknown): unknown {
  if (typeof value === "string") return accepts(root, schema, "string") ? value : convertString(root, schema, value);
  if (isRecord(value)) return convertObject(root, schema, value);
  if (!Array.isArray(value)) return value;
  const wanted = allOf(schemaParts(root, schema).map(({ items }) => items));
  return value.map((item) => convert(root, wanted, item));
}

function allOf(schemas: readonly unknown[]): unknown {
  return { allOf: schemas };
}

function ownValue(properties: unknown, name: string): unknown {
  return isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function convertString(root: unknown, schema: unknown, text: string): unknown {
  const trimmed = text.trim();
  if (accepts(root, schema, "integer") && /^[+-]?\d+$/.test(trimmed) && Number.isSafeInteger(Number(trimmed))) {
    return Number(trimmed);
  }
  if (accepts(root, schema, "number") && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return Number(trimmed);
  if (accepts(root, schema, "boolean") && (trimmed === "true" || trimmed === "false")) return trimmed === "true";
  return text;
}

/** Whether a value of this type can satisfy the schema; one that says nothing of types takes all. */
function accepts(root: unknown, schema: unknown, type: JsonType, passed: ReadonlySet<unknown> = new Set()): boolean {
  const seen = new Set(passed);
  return schemaParts(root, schema, seen).every((part) => partAccepts(root, part, type, seen));
}

function partAccepts(
  root: unknown,
  schema: Record<string, unknown>,
  type: JsonType,
  passed: ReadonlySet<unknown>,
): boolean {
  const { type: types, const: constant, enum: choices, anyOf, oneOf, nullable } = schema;
  if (type === "null" && nullable === true) return true;
  if (types !== undefined) return [types].flat().includes(type);
  if (Object.hasOwn(schema, "const")) return typeOf(constant) === type;
  if (Array.isArray(choices)) return choices.some((choice) => typeOf(choice) === type);
  const branches = anyOf ?? oneOf;
  return Array.isArray(branches) ? branches.some((branch) => accepts(root, branch, type, passed)) : true;
}

function typeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (Number.isInteger(value)) return "integer";
  return typeof value as JsonType;
}
