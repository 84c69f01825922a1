import { isRecord } from "../omnimessage/shape.ts";

type JsonType = "string" | "integer" | "number" | "boolean" | "null" | "object" | "array";

/**
 * Brings what models often get wrong into the types a schema wants, and nothing else: a string becomes an integer, a
 * number or a boolean where one of these is wanted and a string is not, and `null` for an optional property counts as
 * absent unless the schema takes `null`. Properties of objects and items of lists are converted likewise.
 *
 * @returns A copy; the arguments given stay as they are.
 */
export function convertArguments(schema: unknown, args: Record<string, unknown>): Record<string, unknown> {
  const properties = recordOf(recordOf(schema).properties);
  const required = recordOf(schema).required;
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  return Object.fromEntries(
    Object.entries(args).flatMap(([name, value]) => {
      const wanted = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (value === null && wanted !== undefined && !isRequired(name) && !accepts(wanted, "null")) return [];
      return [[name, convert(wanted, value)]];
    }),
  );
}

function convert(schema: unknown, value: unknown): unknown {
  if (typeof value === "string") return accepts(schema, "string") ? value : convertString(schema, value);
  if (Array.isArray(value)) return value.map((item) => convert(recordOf(schema).items, item));
  return isRecord(value) ? convertArguments(schema, value) : value;
}

function convertString(schema: unknown, text: string): unknown {
  const trimmed = text.trim();
  if (accepts(schema, "integer") && /^[+-]?\d+$/.test(trimmed) && Number.isSafeInteger(Number(trimmed))) {
    return Number(trimmed);
  }
  if (accepts(schema, "number") && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return Number(trimmed);
  if (accepts(schema, "boolean") && (trimmed === "true" || trimmed === "false")) return trimmed === "true";
  return text;
}

/** Whether a value of this type can satisfy the schema; one that says nothing of types takes all. */
function accepts(schema: unknown, type: JsonType): boolean {
  if (!isRecord(schema)) return true;
  const { type: types, const: constant, enum: choices, anyOf, oneOf, nullable } = schema;
  if (type === "null" && nullable === true) return true;
  if (types !== undefined) return [types].flat().includes(type);
  if (Object.hasOwn(schema, "const")) return typeOf(constant) === type;
  if (Array.isArray(choices)) return choices.some((choice) => typeOf(choice) === type);
  const branches = anyOf ?? oneOf;
  return Array.isArray(branches) ? branches.some((branch) => accepts(branch, type)) : true;
}

function typeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (Number.isInteger(value)) return "integer";
  return typeof value as JsonType;
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
