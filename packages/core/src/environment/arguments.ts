import { errorText } from "../errors/error-text.ts";
import { isRecord } from "../omnimessage/shape.ts";
import { convertArguments } from "./convert-arguments.ts";
import type { OfferedTool } from "./offered-tool.ts";
import { shorten } from "./shorten.ts";
import { validateArguments } from "./validate-arguments.ts";

/** The arguments a tool is run with, or what the model reads instead. */
export type CheckedArguments = { readonly args: Record<string, unknown> } | { readonly error: string };

const MAX_QUOTE_CHARS = 200;

/**
 * Turns the argument text of a call into what its tool is run with: parsed, prepared by the tool, converted, and checked
 * against the schema in force (PI-015, PI-016). An empty text counts as `{}`. A key `__proto__` is dropped wherever it
 * stands. Never throws.
 */
export async function readArguments({ tool, parameters }: OfferedTool, text: string): Promise<CheckedArguments> {
  let prepared: unknown;
  try {
    prepared = parse(text);
  } catch (error) {
    return { error: `the arguments of ${tool.name} are not JSON (${errorText(error)}); ${SEND_AGAIN}` };
  }
  try {
    if (tool.prepareArguments) prepared = await tool.prepareArguments(prepared);
  } catch (error) {
    return { error: `the arguments of ${tool.name} could not be prepared: ${errorText(error)}` };
  }
  if (!isRecord(prepared)) {
    const got = shorten(JSON.stringify(prepared) ?? String(prepared), MAX_QUOTE_CHARS);
    return { error: `the arguments of ${tool.name} must be a JSON object, got ${got}; ${SEND_AGAIN}` };
  }
  const args = convertArguments(parameters, prepared);
  const problems = await validateArguments(parameters, args);
  if (problems.length === 0) return { args };
  return { error: [`${tool.name} was not run; correct its arguments and call it again`, ...problems].join("\n") };
}

const SEND_AGAIN = "send the call again with one JSON object";

function parse(text: string): unknown {
  if (text.trim() === "") return {};
  return JSON.parse(text, (key, value: unknown) => (key === "__proto__" ? undefined : value));
}
