import { errorText } from "../errors/error-text.ts";
import { convertArguments } from "./convert-arguments.ts";
import type { OfferedTool } from "./offered-tool.ts";
import { argumentObject, nestingError, parseArguments } from "./parse-arguments.ts";
import { validateArguments } from "./validate-arguments.ts";

/** The arguments a tool is run with, or what the model reads instead. */
export type CheckedArguments = { readonly args: Record<string, unknown> } | { readonly error: string };

/**
 * Turns the argument text of a call into what its tool is run with: parsed, prepared by the tool, converted, and checked
 * against the schema in force (PI-015, PI-016). An empty text counts as `{}`. A key `__proto__` is dropped wherever it
 * stands. Never throws.
 */
export async function readArguments({ tool, parameters }: OfferedTool, text: string): Promise<CheckedArguments> {
  const parsed = parseArguments(tool.name, text);
  if ("error" in parsed) return parsed;
  let prepared = parsed.value;
  try {
    if (tool.prepareArguments) prepared = await tool.prepareArguments(prepared);
  } catch (error) {
    const text = `the arguments of ${tool.name} could not be prepared: ${errorText(error)}`;
    return { error: nestingError(tool.name, error) ?? text };
  }
  try {
    const object = argumentObject(tool.name, prepared);
    if ("error" in object) return object;
    const args = convertArguments(parameters, object.args);
    const problems = await validateArguments(parameters, args);
    if (problems.length === 0) return { args };
    return { error: [`${tool.name} was not run; correct its arguments and call it again`, ...problems].join("\n") };
  } catch (error) {
    const text = `the arguments of ${tool.name} could not be checked: ${errorText(error)}`;
    return { error: nestingError(tool.name, error) ?? text };
  }
}
