import { names, sessionMeta } from "./definition.ts";
import { type Fields, shapeToJsonSchema } from "./shape.ts";
import { payloadTables, TIMESTAMP_PATTERN } from "./validate.ts";

type JsonSchema = Record<string, unknown>;

/**
 * The JSON Schema (draft 2020-12) of one message, for clients in other languages.
 *
 * It accepts exactly what `messageProblems` has nothing to say about. Payload types that are not known are accepted in
 * the envelopes that carry typed payloads, fields that are not known everywhere (rule 9).
 */
export function omniMessageJsonSchema(): Record<string, unknown> {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "OmniMessage",
    description: "One message of Rookery: of its stream, and one line of its trace.",
    oneOf: [reference("SessionMetaMessage"), reference("ModelMessage"), reference("EventMessage")],
    $defs: {
      SessionMetaMessage: envelope("session_meta", reference("session_meta")),
      ModelMessage: typedEnvelope("model_msg"),
      EventMessage: typedEnvelope("event_msg"),
      session_meta: { ...shapeToJsonSchema({ fields: sessionMeta }), not: typed({}) },
      ...payloadSchemas(payloadTables.model_msg),
      ...payloadSchemas(payloadTables.event_msg),
      ...Object.fromEntries(Object.entries(names).map(([name, shape]) => [name, shapeToJsonSchema(shape)])),
    },
  };
}

function envelope(type: string, payload: JsonSchema): JsonSchema {
  return {
    type: "object",
    properties: {
      timestamp: { type: "string", pattern: TIMESTAMP_PATTERN },
      type: { const: type },
      payload,
      origin: { type: "array", items: { type: "string", minLength: 1 }, minItems: 1 },
    },
    required: ["timestamp", "type", "payload"],
  };
}

function typedEnvelope(type: keyof typeof payloadTables): JsonSchema {
  const known = Object.values(payloadTables).flatMap((table) => Object.keys(table));
  const unknownPayload = typed({ type: "string", not: { enum: known } });
  return envelope(type, { anyOf: [...Object.keys(payloadTables[type]).map(reference), unknownPayload] });
}

function typed(type: JsonSchema): JsonSchema {
  return { type: "object", properties: { type }, required: ["type"] };
}

function payloadSchemas(table: Readonly<Record<string, Fields>>): JsonSchema {
  return Object.fromEntries(
    Object.entries(table).map(([type, fields]) => [type, shapeToJsonSchema({ fields: { type: [type], ...fields } })]),
  );
}

function reference(name: string): JsonSchema {
  return { $ref: `#/$defs/${name}` };
}
