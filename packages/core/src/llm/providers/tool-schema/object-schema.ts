import { isJsonObject } from "../../json-value.ts";
import type { Schema } from "./readable-schema.ts";
import { targetOf } from "./schema-reference.ts";

/**
 * The parameters of a tool as one object, without alternatives at the top; those of an object stay as they are.
 *
 * It has the properties of all its parts and alternatives, references followed, and requires what each part requires and
 * what all of several alternatives do. Of properties with one name the object's own counts, then that of a part.
 */
export function objectSchema(parameters: unknown): Schema {
  const root = isJsonObject(parameters) ? parameters : {};
  const { allOf: _, anyOf: __, oneOf: ___, ...rest } = root;
  const { properties, required } = membersOf(root, root, new Map());
  return {
    ...rest,
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

interface Members {
  /** The later count. */
  readonly properties: readonly [name: string, schema: unknown][];
  readonly required: readonly string[];
}

const NONE: Members = { properties: [], required: [] };

/** @param known - Of each schema once; one that holds itself adds nothing to itself. */
function membersOf(node: unknown, root: Schema, known: Map<unknown, Members>): Members {
  if (!isJsonObject(node)) return NONE;
  const before = known.get(node);
  if (before) return before;
  known.set(node, NONE);
  const all = (schemas: unknown): Members[] => listOf(schemas).map((schema) => membersOf(schema, root, known));
  const parts = all(typeof node.$ref === "string" ? [targetOf(root, node.$ref), ...listOf(node.allOf)] : node.allOf);
  const choices = [all(node.anyOf), all(node.oneOf)];
  const own = isJsonObject(node.properties) ? Object.entries(node.properties) : [];
  const required = [
    ...listOf(node.required).filter((name) => typeof name === "string"),
    ...parts.flatMap((part) => part.required),
    ...choices.flatMap(requiredInAll),
  ];
  const properties = new Map([...choices.flat(), ...parts].flatMap((part) => [...part.properties]).concat(own));
  const members = { properties: [...properties], required: [...new Set(required)] };
  known.set(node, members);
  return members;
}

function requiredInAll([first = NONE, ...others]: readonly Members[]): string[] {
  return first.required.filter((name) => others.every(({ required }) => required.includes(name)));
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
