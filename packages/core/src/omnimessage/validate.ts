import { complete, event, names, partial, sessionMeta } from "./definition.ts";
import type { OmniMessage } from "./message.ts";
import { type Fields, isRecord, type ShapeProblem, shapeProblems } from "./shape.ts";

/** ISO 8601 in UTC, to the second or finer; a regular expression's source. */
export const TIMESTAMP_PATTERN: string =
  "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:([0-5]\\d|60)(\\.\\d+)?Z$";

/** Which payload types each envelope carries; `session_meta` has a payload without a type. */
export const payloadTables: Readonly<Record<"model_msg" | "event_msg", Readonly<Record<string, Fields>>>> = {
  model_msg: { ...complete, ...partial },
  event_msg: event,
};

/**
 * Lists what keeps a value from being a message, each problem beginning with the place it was found in.
 *
 * Payload types and fields that are not known are no problem (rule 9); a known payload type in the wrong envelope is.
 *
 * @returns Empty for a message that can be trusted to have its type.
 */
export function messageProblems(value: unknown): string[] {
  if (!isRecord(value)) return ["the message must be an object"];
  if (isDeeper(value, MAX_LEVELS)) return [`the message must not be nested more than ${MAX_LEVELS} levels deep`];
  const problems = shapeProblems(ENVELOPE, value);
  if (problems.length > 0) return problems.map(describe);
  const message = value as Omit<OmniMessage, "payload"> & { readonly payload: Readonly<Record<string, unknown>> };
  return [...envelopeProblems(message), ...payloadProblems(message.type, message.payload)].map(describe);
}

/** True for a value without {@link messageProblems}. */
export function isOmniMessage(value: unknown): value is OmniMessage {
  return messageProblems(value).length === 0;
}

/** Far less than what overflows the stack of who walks through a message or writes it as JSON. */
const MAX_LEVELS = 1000;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) if (isDeeper((value as Readonly<Record<string, unknown>>)[key], levels - 1)) return true;
  return false;
}

const NAMES = { names } as const;

const ENVELOPE = {
  fields: {
    timestamp: "string",
    type: ["session_meta", "model_msg", "event_msg"],
    payload: "object",
    "origin?": { list: "string" },
  },
} as const;

const IS_TIMESTAMP = new RegExp(TIMESTAMP_PATTERN, "u");

function envelopeProblems({ timestamp, origin }: Pick<OmniMessage, "timestamp" | "origin">): ShapeProblem[] {
  const problems: ShapeProblem[] = [];
  if (!IS_TIMESTAMP.test(timestamp)) {
    problems.push({ path: "timestamp", message: `must be ISO 8601 in UTC, got ${JSON.stringify(timestamp)}` });
  }
  if (origin?.length === 0 || origin?.includes("")) {
    problems.push({ path: "origin", message: "must hold session ids, or be absent for the main session" });
  }
  return problems;
}

function payloadProblems(envelope: OmniMessage["type"], payload: Readonly<Record<string, unknown>>): ShapeProblem[] {
  const type = Object.hasOwn(payload, "type") ? payload.type : undefined;
  const wrongType = (message: string): ShapeProblem[] => [{ path: "payload.type", message }];
  if (envelope === "session_meta") {
    if (type !== undefined) return wrongType("must be absent in a session_meta");
    return shapeProblems({ fields: sessionMeta }, payload, NAMES, "payload");
  }
  if (typeof type !== "string") return wrongType(type === undefined ? "is missing" : "must be a string");
  const other = envelope === "model_msg" ? "event_msg" : "model_msg";
  if (Object.hasOwn(payloadTables[other], type))
    return wrongType(`"${type}" belongs in ${other === "event_msg" ? "an" : "a"} ${other}`);
  if (!Object.hasOwn(payloadTables[envelope], type)) return [];
  return shapeProblems({ fields: payloadTables[envelope][type] ?? {} }, payload, NAMES, "payload");
}

function describe({ path, message }: ShapeProblem): string {
  return `${path} ${message}`;
}
