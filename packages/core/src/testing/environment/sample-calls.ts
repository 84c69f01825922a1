import type { ToolDefinition } from "../../omnimessage/message.ts";
import { isRecord } from "../../omnimessage/shape.ts";

/** A call that may be made again and again, and several times at once. */
export interface SampleCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A call as a model would write it. */
export interface WrittenCall {
  readonly name: string;
  /** What should be a JSON object. */
  readonly text: string;
}

export function written({ name, arguments: args }: SampleCall): WrittenCall {
  return { name, text: JSON.stringify(args) };
}

/** For a report. */
export function described({ name, text }: WrittenCall): string {
  return `${quoted(name)} with ${quoted(text)}`;
}

/** As JSON, where it is long its beginning. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** Calls of tools that do not exist: the names that objects have anyway, odd characters, a listed name spelled otherwise. */
export function unknownTools(tools: readonly ToolDefinition[]): WrittenCall[] {
  const listed = new Set(tools.map(({ name }) => name));
  const spelled = tools.slice(0, 1).flatMap(({ name }) => [name.toUpperCase(), ` ${name}`, `${name}\0`]);
  const names = [...HOSTILE_NAMES, ...spelled].filter((name) => !listed.has(name));
  return names.flatMap((name) => ["{}", "no JSON"].map((text) => ({ name, text })));
}

/** Calls of a tool whose arguments are no JSON object. */
export function unreadableArguments({ name }: ToolDefinition): WrittenCall[] {
  return UNREADABLE.map((text) => ({ name, text }));
}

/** Calls of a tool whose arguments its schema forbids: without one that is required, and with one of a wrong type. */
export function forbiddenArguments(
  { name, parameters }: ToolDefinition,
  samples: readonly SampleCall[],
): WrittenCall[] {
  const base = samples.find((sample) => sample.name === name)?.arguments ?? {};
  const { properties, required } = parameters as { properties?: unknown; required?: unknown };
  const without = (Array.isArray(required) ? required : []).map((key: unknown) =>
    Object.fromEntries(Object.entries(base).filter(([name]) => name !== key)),
  );
  const wrong = Object.entries(isRecord(properties) ? properties : {}).flatMap(([key, schema]) =>
    valuesAgainst(schema).map((value) => ({ ...base, [key]: value })),
  );
  return [...without, ...wrong].map((args) => ({ name, text: JSON.stringify(args) }));
}

/** A sample with keys that must not reach a prototype. */
export function withHostileKeys({ name, arguments: args }: SampleCall): WrittenCall {
  const keys: object = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
  return { name, text: JSON.stringify(Object.assign(Object.create(null), keys, args)) };
}

const HOSTILE_NAMES = [
  "",
  "no_such_tool",
  "__proto__",
  "constructor",
  "toString",
  "a\0b",
  "\ud800",
  "../x",
  "n".repeat(100_000),
];

const UNREADABLE = [
  ...["no JSON", "{", "null", "3", '"text"', "[]", "[{}]", "true", "\0", "\ud800", "{}{}", "{'a':1}"],
  "x".repeat(1_000_000),
  "[".repeat(100_000),
];

/** Of what a schema's `type` leaves out; none where it leaves out nothing. */
function valuesAgainst(schema: unknown): unknown[] {
  const { type } = isRecord(schema) ? schema : {};
  const types = Array.isArray(type) ? type : [type];
  if (type === undefined) return [];
  return [
    ...(types.includes("object") ? [] : [{ a: ["\0", "\ud800", { b: null }] }]),
    ...(types.includes("array") ? [] : [[["x".repeat(100_000)]]]),
  ];
}
