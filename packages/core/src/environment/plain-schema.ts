import { isRecord } from "../omnimessage/shape.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * True when arguments surely fit a schema that says nothing but which properties there are, their primitive types, and
 * which are required, as the built-in tools' schemas do.
 *
 * False means only that this is not for here to say: whoever needs to know more compiles the schema, which takes tens of
 * milliseconds the first time.
 */
export function surelyFits(schema: Schema, args: Readonly<Record<string, unknown>>): boolean {
  const { type, properties, required = [] } = schema;
  if (!hasOnly(schema, OBJECT_KEYWORDS) || type !== "object" || !isRecord(properties) || !Array.isArray(required)) {
    return false;
  }
  if (!required.every((name) => typeof name === "string" && (name === "description" || Object.hasOwn(args, name)))) {
    return false;
  }
  return Object.entries(properties).every(
    ([name, property]) =>
      isRecord(property) &&
      hasOnly(property, PROPERTY_KEYWORDS) &&
      PRIMITIVES.has(property.type) &&
      (!Object.hasOwn(args, name) || isOfType(args[name], property.type)),
  );
}

const OBJECT_KEYWORDS: ReadonlySet<string> = new Set(["type", "properties", "required", "description"]);
const PROPERTY_KEYWORDS: ReadonlySet<string> = new Set(["type", "description"]);
const PRIMITIVES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean"]);

function hasOnly(schema: Schema, keywords: ReadonlySet<string>): boolean {
  return Object.keys(schema).every((keyword) => keywords.has(keyword));
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "number") return Number.isFinite(value);
  return typeof value === type;
}
