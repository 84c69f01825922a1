import { merged, type PlainSchema } from "./resolve-schema.ts";

/** Google's `Schema`: part of OpenAPI's. */
type Schema = Readonly<Record<string, unknown>>;

/** A schema in Google's terms; `undefined` for one that they cannot say. */
export function writeSchema(schema: PlainSchema): Schema | undefined {
  try {
    return write(schema);
  } catch (error) {
    if (error instanceof Unsayable) return undefined;
    throw error;
  }
}

/** An object of any properties, or anything at all: `Schema` wants properties, items and a type. */
class Unsayable extends Error {}

function write(schema: PlainSchema): Schema {
  const types = typesOf(schema);
  const kinds = types.filter((type) => type !== "null");
  if (schema.anyOf) return alternatives(schema, schema.anyOf, kinds);
  const nullable = types.length > kinds.length || schema.enum?.includes(null) === true;
  const [kind, ...others] = kinds;
  if (kind === undefined) {
    if (nullable) return { type: "NULL", ...said(schema) };
    throw new Unsayable();
  }
  const each = kinds.map((type) => ({ ...schema, type }));
  if (others.length > 0) return union(each.map(write), nullable);
  return { type: kind.toUpperCase(), ...(nullable && { nullable }), ...WRITERS[kind]?.(schema, kind) };
}

/** Each alternative says what stands beside them too. */
function alternatives(
  { anyOf: _, ...beside }: PlainSchema,
  schemas: readonly PlainSchema[],
  kinds: readonly string[],
): Schema {
  const isNull = (each: PlainSchema): boolean =>
    each.type === "null" || (each.enum?.every((value) => value === null) ?? false);
  const nullable = schemas.some(isNull) || (kinds.length > 0 && typesOf(beside).includes("null"));
  const written = schemas.filter((each) => !isNull(each)).map((each) => write(merged(beside, each)));
  return written.length === 0 ? { type: "NULL", ...said(beside) } : union(written, nullable);
}

/** Beside `anyOf` nothing else may stand. */
function union(schemas: readonly Schema[], nullable: boolean): Schema {
  const flat = schemas.flatMap((schema) => (Array.isArray(schema.anyOf) ? (schema.anyOf as Schema[]) : [schema]));
  const each = nullable ? flat.map((schema) => ({ ...schema, nullable })) : flat;
  const [only, ...others] = each;
  return only && others.length === 0 ? only : { anyOf: each };
}

/** As it says, or as what it says elsewhere implies. */
function typesOf(schema: PlainSchema): readonly string[] {
  if (schema.type !== undefined) return typeof schema.type === "string" ? [schema.type] : schema.type;
  if (schema.enum) return [...new Set(schema.enum.map(typeOfValue))];
  if (schema.properties) return ["object"];
  if (schema.items || schema.prefixItems) return ["array"];
  if (["minLength", "maxLength", "pattern", "format"].some((name) => name in schema)) return ["string"];
  return ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].some((name) => name in schema)
    ? ["number"]
    : [];
}

function typeOfValue(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

const WRITERS: Readonly<Record<string, (schema: PlainSchema, kind: string) => Schema>> = {
  object: objectFields,
  array: arrayFields,
  string: stringFields,
  number: numberFields,
  integer: numberFields,
  boolean: (schema) => said(schema, ...valuesOf(schema, "boolean")),
};

function objectFields(schema: PlainSchema): Schema {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) throw new Unsayable();
  const required = (schema.required ?? []).filter((name) => Object.hasOwn(schema.properties ?? {}, name));
  return {
    ...said(schema),
    properties: Object.fromEntries(properties.map(([name, property]) => [name, write(property)])),
    ...(required.length > 0 && { required }),
  };
}

function arrayFields({ items, prefixItems, ...schema }: PlainSchema): Schema {
  const kinds = [...(prefixItems ?? []), ...(items ? [items] : [])];
  if (kinds.length === 0) throw new Unsayable();
  const size = prefixItems && !items ? { minItems: prefixItems.length, maxItems: prefixItems.length } : {};
  const { minItems, maxItems } = { ...size, ...schema };
  const element = write(kinds.length === 1 ? (kinds[0] ?? {}) : { anyOf: distinct(kinds) });
  return { ...said(schema), items: element, ...defined({ minItems, maxItems }) };
}

function stringFields(schema: PlainSchema): Schema {
  const { format, minLength, maxLength, pattern } = schema;
  const values = schema.enum?.filter((value) => typeof value === "string") ?? [];
  const listed = values.length > 0 && !values.includes("");
  const isKnown = format === "date-time";
  return {
    ...said(
      schema,
      ...(listed ? [] : valuesOf(schema, "string")),
      ...(format && !isKnown ? [`Format: ${format}.`] : []),
    ),
    ...(listed && { enum: values }),
    ...defined({ format: isKnown ? format : undefined, minLength, maxLength, pattern }),
  };
}

function numberFields(schema: PlainSchema, kind: string): Schema {
  const { exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  const step = kind === "integer" ? 1 : 0;
  const notes = [
    ...(above !== undefined && step === 0 ? [`Greater than ${above}.`] : []),
    ...(below !== undefined && step === 0 ? [`Less than ${below}.`] : []),
  ];
  return {
    ...said(schema, ...valuesOf(schema, "number"), ...notes),
    ...defined({
      minimum: schema.minimum ?? (above === undefined ? undefined : above + step),
      maximum: schema.maximum ?? (below === undefined ? undefined : below - step),
    }),
  };
}

/** Lists of values are for strings alone; others are told in words. */
function valuesOf({ enum: values = [] }: PlainSchema, type: string): string[] {
  const own = values.filter((value) => typeof value === type);
  return own.length === 0 ? [] : [`One of ${own.map((value) => JSON.stringify(value)).join(", ")}.`];
}

function said({ title, description, default: preset }: PlainSchema, ...notes: string[]): Schema {
  const words = [...(description ? [description] : []), ...notes].join(" ");
  return defined({ title, description: words || undefined, default: preset });
}

function defined(fields: Record<string, unknown>): Schema {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function distinct(schemas: readonly PlainSchema[]): PlainSchema[] {
  const seen = new Map(schemas.map((schema) => [JSON.stringify(schema), schema]));
  return [...seen.values()];
}
