import type { ErrorObject, ValidateFunction } from "ajv";
import { errorText } from "../errors/error-text.ts";
import { isRecord } from "../omnimessage/shape.ts";
import { surelyFits } from "./plain-schema.ts";
import { shorten } from "./shorten.ts";

type Schema = Readonly<Record<string, unknown>>;

const MAX_PROBLEMS = 10;
const MAX_QUOTE_CHARS = 80;

/**
 * Checks arguments against a JSON Schema of any draft.
 *
 * A missing `description` is no problem: it is for people who watch. Properties the schema does not name are none
 * either, unless it says `additionalProperties: false`.
 *
 * @returns One line for each problem, `FIELD: what is accepted, got what was given`; empty when the arguments fit. A
 *   schema that cannot be compiled is a problem of its own.
 */
export async function validateArguments(schema: Schema, args: Record<string, unknown>): Promise<string[]> {
  if (surelyFits(schema, args)) return [];
  let validate: ValidateFunction;
  try {
    validate = await compiled(schema);
  } catch (error) {
    return [`the tool's own schema is broken, it cannot be called: ${shorten(errorText(error), 300)}`];
  }
  if (validate(args)) return [];
  const errors = withoutBranches(validate.errors ?? []);
  const lines = [...new Set(errors.map(problemLine))];
  const more = lines.length - MAX_PROBLEMS;
  return more > 0 ? [...lines.slice(0, MAX_PROBLEMS), `… and ${more} more`] : lines;
}

/** Compiling takes a millisecond or more, and a schema is used for many calls. */
const validators: WeakMap<Schema, Promise<ValidateFunction>> = new WeakMap();

function compiled(schema: Schema): Promise<ValidateFunction> {
  const known = validators.get(schema);
  if (known) return known;
  const made = compile(schema);
  validators.set(schema, made);
  return made;
}

async function compile(schema: Schema): Promise<ValidateFunction> {
  const { $schema: dialect, ...rest } = schema;
  const ajv = await (/20(19-09|20-12)/.test(String(dialect)) ? recentDrafts() : olderDrafts());
  const used = { ...rest, required: requiredOf(schema) };
  try {
    return ajv.compile(used);
  } finally {
    ajv.removeSchema(used);
  }
}

type Compiler = Pick<import("ajv").Ajv, "compile" | "removeSchema">;

const olderDrafts: () => Promise<Compiler> = once(async () => withFormats(new (await import("ajv")).Ajv(AJV_OPTIONS)));
const recentDrafts: () => Promise<Compiler> = once(async () =>
  withFormats(new (await import("ajv/dist/2020.js")).Ajv2020(AJV_OPTIONS)),
);

const AJV_OPTIONS = {
  strict: false,
  allErrors: true,
  verbose: true,
  logger: false,
  ownProperties: true,
  // Two tools may carry schemas of one `$id`.
  addUsedSchema: false,
  // Compiling finds what matters, thirty milliseconds sooner.
  validateSchema: false,
} as const;

async function withFormats<A extends import("ajv").Ajv | import("ajv/dist/2020.js").Ajv2020>(ajv: A): Promise<A> {
  (await import("ajv-formats")).default.default(ajv);
  return ajv;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function requiredOf({ required }: Schema): unknown[] {
  return Array.isArray(required) ? required.filter((name) => name !== "description") : [];
}

/** Drops what single branches of an `anyOf` or `oneOf` complain of: the line of the whole says what is accepted. */
function withoutBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  const choices = errors.filter(({ keyword }) => keyword === "anyOf" || keyword === "oneOf");
  return errors.filter(({ schemaPath }) => !choices.some((choice) => schemaPath.startsWith(`${choice.schemaPath}/`)));
}

function problemLine(error: ErrorObject): string {
  const field = fieldOf(error.instancePath);
  const params: Record<string, unknown> = error.params;
  switch (error.keyword) {
    case "required":
      return `${join(field, String(params.missingProperty))}: is required and missing`;
    case "additionalProperties":
    case "unevaluatedProperties": {
      const unknown = params.additionalProperty ?? params.unevaluatedProperty;
      return `${join(field, String(unknown))}: is not accepted, ${knownProperties(error.parentSchema)}`;
    }
    case "type":
    case "const":
    case "enum":
    case "anyOf":
    case "oneOf":
      return `${field || "the arguments"}: must be ${accepted(error.parentSchema)}, got ${quote(error.data)}`;
    default:
      return `${field || "the arguments"}: ${error.message ?? "does not fit"}, got ${quote(error.data)}`;
  }
}

/** `edits[0].oldText` for `/edits/0/oldText`. */
function fieldOf(instancePath: string): string {
  return instancePath
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce(join, "");
}

function join(path: string, key: string): string {
  if (/^\d+$/.test(key)) return `${path}[${key}]`;
  return path === "" ? key : `${path}.${key}`;
}

function knownProperties(schema: unknown): string {
  const properties = isRecord(schema) && isRecord(schema.properties) ? Object.keys(schema.properties) : [];
  return properties.length === 0 ? "there are no arguments" : `use only ${properties.join(", ")}`;
}

/** What a schema takes, in words: `a string`, `one of "a", "b"`, `an integer or null`. */
function accepted(schema: unknown): string {
  if (!isRecord(schema)) return "of another shape";
  const { const: constant, enum: choices, type, anyOf, oneOf } = schema;
  if (Object.hasOwn(schema, "const")) return quote(constant);
  if (Array.isArray(choices)) return `one of ${choices.map(quote).join(", ")}`;
  const branches = anyOf ?? oneOf;
  if (Array.isArray(branches)) return [...new Set(branches.map(accepted))].join(" or ");
  if (type === undefined) return `what the schema ${quote(schema)} describes`;
  return [type].flat().map(typeWords).join(" or ");
}

function typeWords(type: unknown): string {
  if (type === "null") return "null";
  return /^[aio]/.test(String(type)) ? `an ${type}` : `a ${type}`;
}

function quote(value: unknown): string {
  return shorten(JSON.stringify(value) ?? String(value), MAX_QUOTE_CHARS);
}
