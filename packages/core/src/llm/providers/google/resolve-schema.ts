import { isJsonObject } from "../../json-value.ts";
import { targetOf } from "../schema-reference.ts";

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
  resolve(schema: unknown, trail: readonly string[]): PlainSchema {
    this.#schemas += 1;
    if (!isJsonObject(schema) || trail.length > MAX_LEVELS || this.#schemas > MAX_SCHEMAS) return {};
    const below = (value: unknown): PlainSchema => this.resolve(value, [...trail, ""]);
    const list = (value: unknown): PlainSchema[] => (Array.isArray(value) ? value.map(below) : []);
    const alternatives = [...list(schema.anyOf), ...list(schema.oneOf)];
    const tuple = [...list(schema.prefixItems), ...list(schema.items)];
    const own: PlainSchema = {
      ...keywordsOf(schema),
      ...(isJsonObject(schema.properties) && { properties: mapped(schema.properties, below) }),
      ...(isJsonObject(schema.additionalProperties) && { additionalProperties: below(schema.additionalProperties) }),
      ...(isJsonObject(schema.items) && { items: below(schema.items) }),
      ...(tuple.length > 0 && { prefixItems: tuple }),
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

function keywordsOf(schema: Record<string, unknown>): PlainSchema {
  const plain = Object.entries(KEYWORDS).filter(
    ([name, isSound]) => Object.hasOwn(schema, name) && isSound(schema[name]),
  );
  const { nullable, required, additionalProperties } = schema;
  const types = typesIn(schema.type, nullable === true);
  const values = Object.hasOwn(schema, "const") ? [schema.const] : schema.enum;
  return {
    ...Object.fromEntries(plain.map(([name]) => [name, schema[name]])),
    ...(types.length > 0 && { type: types.length === 1 ? (types[0] ?? "") : types }),
    ...(Array.isArray(values) && values.length > 0 && { enum: values }),
    ...(Array.isArray(required) && { required: [...new Set(required.filter(isText))] }),
    ...(typeof additionalProperties === "boolean" && { additionalProperties }),
  };
}

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number";
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;

const KEYWORDS = {
  title: isText,
  description: isText,
  format: isText,
  pattern: isPattern,
  default: () => true,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
} as const satisfies Partial<Record<keyof PlainSchema, (value: unknown) => boolean>>;

function isPattern(value: unknown): boolean {
  try {
    return isText(value) && new RegExp(value).source !== "";
  } catch {
    return false;
  }
}

function typesIn(type: unknown, nullable: boolean): string[] {
  const types = (Array.isArray(type) ? type : [type]).filter((name) => TYPES.has(name));
  return [...new Set(nullable && types.length > 0 ? [...types, "null"] : types)];
}

const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "array", "object", "null"]);

function mapped(schemas: Record<string, unknown>, map: (schema: unknown) => PlainSchema): Record<string, PlainSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, map(schema)]));
}
