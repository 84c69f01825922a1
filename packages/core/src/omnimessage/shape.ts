/**
 * Data described by a literal: one value from which the TypeScript type, the runtime check and the JSON Schema follow.
 *
 * A shape is a type's name, a list of allowed literals, or a small object:
 *
 * - `"string" | "number" | "boolean" | "unknown" | "object"` (`object` is any JSON object), or a name of the `Names` table;
 * - `["a", "b"]` one of these literals;
 * - `{ list: S }`, `{ map: S }` (string keys), `{ either: [S, S] }`;
 * - `{ fields: { name: S, "optional?": S } }` an object; unknown properties are allowed and kept (rule 9 of the protocol).
 */
export type Shape =
  | string
  | readonly (string | number)[]
  | { readonly list: Shape }
  | { readonly map: Shape }
  | { readonly either: readonly Shape[] }
  | { readonly fields: Fields };

/** The properties of an object by name; a trailing `?` marks an optional one. */
export type Fields = { readonly [name: string]: Shape };

/** Shapes that others refer to by name. */
export type Names = { readonly [name: string]: Shape };

/** The TypeScript type of a shape. */
export type TypeOf<S, N = Record<never, never>> = S extends "string"
  ? string
  : S extends "number"
    ? number
    : S extends "boolean"
      ? boolean
      : S extends "unknown"
        ? unknown
        : S extends "object"
          ? Readonly<Record<string, unknown>>
          : S extends keyof N
            ? TypeOf<N[S], N>
            : S extends readonly (infer Literal)[]
              ? Literal
              : S extends { readonly list: infer Item }
                ? readonly TypeOf<Item, N>[]
                : S extends { readonly map: infer Value }
                  ? Readonly<Record<string, TypeOf<Value, N>>>
                  : S extends { readonly either: readonly (infer Choice)[] }
                    ? TypeOf<Choice, N>
                    : S extends { readonly fields: infer F }
                      ? FieldsOf<F, N>
                      : never;

/** The TypeScript type of an object with these fields. */
export type FieldsOf<F, N = Record<never, never>> = Flat<
  { readonly [K in keyof F as K extends `${string}?` ? never : K]: TypeOf<F[K], N> } & {
    readonly [K in keyof F as K extends `${infer Name}?` ? Name : never]?: TypeOf<F[K], N>;
  }
>;

type Flat<T> = { [K in keyof T]: T[K] };

/** Where a value departs from its shape, and how. */
export interface ShapeProblem {
  /** The place inside the value, as `models[0].provider`; empty for the value itself. */
  readonly path: string;
  /** What is wrong there, with the value quoted. */
  readonly message: string;
}

/**
 * Lists where a value departs from a shape.
 *
 * @param options.unknownKeys - Also reports properties that the shape does not name (for configuration files); off by
 *   default, since readers of messages ignore what they do not know.
 * @returns Problems in the order of the shape; empty when the value fits.
 */
export function shapeProblems(
  shape: Shape,
  value: unknown,
  options: { names?: Names; unknownKeys?: boolean } = {},
  path = "",
): ShapeProblem[] {
  const names = options.names ?? {};
  const wrong = (expected: string): ShapeProblem[] => [{ path, message: `must be ${expected}, got ${quote(value)}` }];
  if (typeof shape === "string") {
    if (shape === "unknown") return [];
    if (shape === "object") return isRecord(value) ? [] : wrong("an object");
    if (PRIMITIVES.has(shape)) return typeof value === shape ? [] : wrong(`a ${shape}`);
    const named = names[shape];
    if (named === undefined) throw new TypeError(`no shape is named "${shape}"`);
    return shapeProblems(named, value, options, path);
  }
  if (isLiterals(shape)) {
    return shape.includes(value as never) ? [] : wrong(`one of ${shape.map(quote).join(", ")}`);
  }
  if ("list" in shape) {
    if (!Array.isArray(value)) return wrong("a list");
    return value.flatMap((item, i) => shapeProblems(shape.list, item, options, `${path}[${i}]`));
  }
  if ("map" in shape) {
    if (!isRecord(value)) return wrong("an object");
    return Object.entries(value).flatMap(([key, item]) => shapeProblems(shape.map, item, options, join(path, key)));
  }
  if ("either" in shape) {
    const attempts = shape.either.map((choice) => shapeProblems(choice, value, options, path));
    return attempts.some((problems) => problems.length === 0) ? [] : (attempts[0] ?? []);
  }
  if (!isRecord(value)) return wrong("an object");
  const problems: ShapeProblem[] = [];
  const known = fieldsOf(shape.fields);
  for (const { name, field, isOptional } of known) {
    if (value[name] !== undefined && Object.hasOwn(value, name)) {
      // Most fields are right: what only a report needs is not made for them.
      if (typeof field === "string" && typeof value[name] === field && PRIMITIVES.has(field)) continue;
      if (Array.isArray(field) && field.includes(value[name])) continue;
      problems.push(...shapeProblems(field, value[name], options, join(path, name)));
    } else if (!isOptional) {
      problems.push({ path: join(path, name), message: "is missing" });
    }
  }
  if (!options.unknownKeys) return problems;
  const unknown = Object.keys(value).filter((key) => !known.some(({ name }) => name === key));
  // First: what is missing may be there under a wrong name.
  return [...unknown.map((key) => ({ path: join(path, key), message: "is not a known key" })), ...problems];
}

interface Field {
  readonly name: string;
  readonly field: Shape;
  readonly isOptional: boolean;
}

/** The fields as they are needed for every value; kept, since a trace has many records and few shapes. */
function fieldsOf(fields: Fields): readonly Field[] {
  const kept = readFields.get(fields);
  if (kept) return kept;
  const read = Object.entries(fields).map(([key, field]) => {
    const name = fieldName(key);
    return { name, field, isOptional: name !== key };
  });
  readFields.set(fields, read);
  return read;
}

const readFields = new WeakMap<Fields, readonly Field[]>();

/** The JSON Schema (draft 2020-12) of a shape; named shapes become references into `$defs`. */
export function shapeToJsonSchema(shape: Shape): Record<string, unknown> {
  if (typeof shape === "string") {
    if (shape === "unknown") return {};
    if (shape === "object" || PRIMITIVES.has(shape)) return { type: shape };
    return { $ref: `#/$defs/${shape}` };
  }
  if (isLiterals(shape)) return { enum: [...shape] };
  if ("list" in shape) return { type: "array", items: shapeToJsonSchema(shape.list) };
  if ("map" in shape) return { type: "object", additionalProperties: shapeToJsonSchema(shape.map) };
  if ("either" in shape) return { anyOf: shape.either.map(shapeToJsonSchema) };
  const entries = Object.entries(shape.fields);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([key, field]) => [fieldName(key), shapeToJsonSchema(field)])),
    required: entries.map(([key]) => key).filter((key) => !key.endsWith("?")),
  };
}

/** The names of an object's properties, without the mark of optional ones. */
export function fieldNames(fields: Fields): string[] {
  return Object.keys(fields).map(fieldName);
}

const PRIMITIVES: ReadonlySet<string> = new Set(["string", "number", "boolean"]);

function fieldName(key: string): string {
  return key.endsWith("?") ? key.slice(0, -1) : key;
}

function isLiterals(shape: Exclude<Shape, string>): shape is readonly (string | number)[] {
  return Array.isArray(shape);
}

/** True for an object that is no array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
