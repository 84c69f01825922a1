import { isJsonObject, jsonText } from "../../json-value.ts";
import { BROKEN_REPLY } from "../provider.ts";
import type { WireEvent } from "./wire-event.ts";

/**
 * An error of the provider in the one form of which the package loses nothing, whatever form it came in: inside a failed
 * response, inside an event or spread over it, as an object or as a text. The package makes up an HTTP status for an error
 * before the first output: an event that says nothing goes before it.
 */
export function errorEvents(error: unknown): WireEvent[] {
  const said: Record<string, unknown> = isJsonObject(error) ? error : { message: error };
  const type = nameOf(said.type === "error" ? undefined : said.type);
  const code = nameOf(said.code);
  return [
    SILENT,
    {
      type: "error",
      sequence_number: 0,
      error: {
        type: type ?? NAMELESS,
        code: code === type ? null : (code ?? null),
        message: typeof said.message === "string" ? said.message : (jsonText(error) ?? "no reason was given"),
      },
    },
  ];
}

/** An error that says that the reply broke off. */
export function brokenEvents(message: string): WireEvent[] {
  return errorEvents({ type: BROKEN_REPLY, message });
}

/** The error as the provider named it, from what the package made of it. */
export function errorOf(error: unknown): unknown {
  const event = isJsonObject(error) ? error.data : undefined;
  if (!isJsonObject(event) || !isJsonObject(event.error)) return error;
  const { type, code, message } = event.error;
  return { error: { message, code, ...(type !== NAMELESS && { type }) } };
}

/** The package takes no error without a type. */
const NAMELESS = "nameless";

const SILENT: WireEvent = {
  type: "response.function_call_arguments.done",
  item_id: "",
  output_index: 0,
  arguments: "",
};

function nameOf(value: unknown): string | undefined {
  return (typeof value === "string" && value !== "") || typeof value === "number" ? String(value) : undefined;
}
