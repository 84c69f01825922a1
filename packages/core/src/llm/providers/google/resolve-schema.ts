import { isJsonObject } from "../../json-value.ts";
import { readableNode, type Schema } from "../tool-schema/readable-schema.ts";
import { targetOf } from "../tool-schema/schema-reference.ts";

/** A JSON Schema of the keywords below and nothing else. */
export interface PlainSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, PlainSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | PlainSchema;
  readonly items?: PlainSchema;
  readonly prefixItems?: readonly PlainSchema[];
  readonly anyOf?: readonly PlainSchema[];
}

/**
 * Any JSON Schema, of any draft and however broken, without references, `allOf`, `oneOf` and `const`: what they mean stands
 * in their place. A reference to itself is followed twice; beyond that, beyond 24 levels and beyond 2000 schemas anything
 * goes. Keywords that are not those of {@link PlainSchema}, and values that make no sense, are left out.
 */
export function resolveSchema(root: unknown): PlainSchema {
  return new Resolver(root).resolve(root, []);
}

const MAX_LEVELS = 24;
const MAX_SCHEMAS = 2000;
const MAX_ROUNDS = 2;

class Resolver {
  readonly #root: unknown;
  #schemas = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  /** @param trail - The references and levels that led here. */
  resolve(value: unknown, trail: readonly string[]): PlainSchema {
    this.#schemas += 1;
    if (!isJsonObject(value) || trail.length > MAX_LEVELS || this.#schemas > MAX_SCHEMAS) return {};
    const schema = readableNode(value, this.#root, (inner) => inner);
    const below = (inner: unknown): PlainSchema => this.resolve(inner, [...trail, ""]);
    const list = (schemas: unknown): PlainSchema[] => (Array.isArray(schemas) ? schemas.map(below) : []);
    const alternatives = [...list(schema.anyOf), ...list(schema.oneOf)];
    const own: PlainSchema = {
      ...keywordsOf(schema),
      ...(isJsonObject(schema.properties) && { properties: mapped(schema.properties, below) }),
      ...(isJsonObject(schema.additionalProperties) && { additionalProperties: below(schema.additionalProperties) }),
      ...(isJsonObject(schema.items) && { items: below(schema.items) }),
      ...(Array.isArray(schema.prefixItems) && { prefixItems: list(schema.prefixItems) }),
      ...(alternatives.length > 0 && { anyOf: alternatives }),
    };
    return [...this.#target(schema.$ref, trail), ...list(schema.allOf), own].reduce(merged);
  }

  #target(ref: unknown, trail: readonly string[]): PlainSchema[] {
    if (typeof ref !== "string" || trail.filter((step) => step === ref).length >= MAX_ROUNDS) return [];
    return [this.resolve(targetOf(this.#root, ref), [...trail, ref])];
  }
}

/** What both say; where they differ, what the later says. */
export function merged(earlier: PlainSchema, later: PlainSchema): PlainSchema {
  const required = [...new Set([...(earlier.required ?? []), ...(later.required ?? [])])];
  return {
    ...earlier,
    ...later,
    ...((earlier.properties ?? later.properties) && { properties: { ...earlier.properties, ...later.properties } }),
    ...(required.length > 0 && { required }),
  };
}

function keywordsOf(schema: Schema): PlainSchema {
  const { nullable, required, additionalProperties } = schema;
  const types = typesIn(schema.type, nullable === true);
  const values = Object.hasOwn(schema, "const") ? [schema.const] : schema.enum;
  return {
    ...Object.fromEntries(KEYWORDS.filter((name) => Object.hasOwn(schema, name)).map((name) => [name, schema[name]])),
    ...(types.length > 0 && { type: types.length === 1 ? (types[0] ?? "") : types }),
    ...(Array.isArray(values) && { enum: values }),
    ...(Array.isArray(required) && { required }),
    ...(typeof additionalProperties === "boolean" && { additionalProperties }),
  };
}

const KEYWORDS: readonly (keyof PlainSchema)[] = [
  ...(["title", "description", "format", "pattern", "default"] as const),
  ...(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] as const),
  ...(["minLength", "maxLength", "minItems", "maxItems"] as const),
];

function typesIn(type: unknown, nullable: boolean): string[] {
  const types = [type ?? []].flat().map(String);
  return [...new Set(nullable && types.length > 0 ? [...types, "null"] : types)];
}

function mapped(schemas: Record<string, unknown>, map: (schema: unknown) => PlainSchema): Record<string, PlainSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, map(schema)]));
}
