import { isRecord } from "../omnimessage/shape.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * A schema and everything that must hold along with it: what its `$ref` leads to within `root`, and the branches of its
 * `allOf`. A reference that leads in a circle, nowhere, or out of `root` adds nothing.
 *
 * @param passed - Schemas that are being looked at already; those found here are added.
 */
export function schemaParts(root: unknown, schema: unknown, passed: Set<unknown> = new Set()): Schema[] {
  if (!isRecord(schema) || passed.has(schema)) return [];
  passed.add(schema);
  const { $ref: reference, allOf } = schema;
  const others = [target(root, reference), ...(Array.isArray(allOf) ? allOf : [])];
  return [schema, ...others.flatMap((other) => schemaParts(root, other, passed))];
}

function target(root: unknown, reference: unknown): unknown {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return undefined;
  return reference.split("/").slice(1).reduce(step, root);
}

function step(at: unknown, part: string): unknown {
  const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
  return (isRecord(at) || Array.isArray(at)) && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
