import type { ToolCallPayload, ToolDefinition } from "@rookery/core";
import { oneLine } from "./neutralise.ts";

/**
 * What a call is about, on one line: its name and, from the tool's own schema, its `description` argument, else its first
 * string argument.
 *
 * @param columns - Longer headings are cut to this many characters.
 */
export function toolHeading(
  call: Pick<ToolCallPayload, "name" | "arguments">,
  definition: ToolDefinition | undefined,
  columns: number,
): string {
  const about = subject(call.arguments, definition?.parameters);
  return shortened(
    about === undefined ? `● ${oneLine(call.name)}` : `● ${oneLine(call.name)}  ${oneLine(about)}`,
    columns,
  );
}

/** Cuts a line to a number of characters, without splitting one. */
export function shortened(line: string, maxCharacters: number): string {
  if (line.length <= maxCharacters) return line;
  const characters = [...line.slice(0, maxCharacters * 2 + 1)];
  return characters.length <= maxCharacters ? line : `${characters.slice(0, maxCharacters - 1).join("")}…`;
}

function subject(argumentsJson: string, schema: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const args = parsedObject(argumentsJson);
  const properties = Object.keys(asObject(schema?.properties));
  const strings = (names: readonly string[]): string[] =>
    names
      .filter((name) => Object.hasOwn(args, name))
      .map((name) => args[name])
      .filter((value) => typeof value === "string");
  const described = properties.includes("description") ? strings(["description"]) : [];
  return [...described, ...strings(properties), ...strings(Object.keys(args))].find((text) => text.trim() !== "");
}

function parsedObject(json: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(json));
  } catch {
    return {};
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
