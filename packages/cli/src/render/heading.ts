import type { ToolCallPayload, ToolDefinition } from "@rookery/core";
import { oneLine } from "./neutralise.ts";

/**
 * What a call is about, on one line: its name and, from the tool's own schema, its `description` argument and its first
 * other string argument. A session that is resumed does not say its schemas again; then the arguments' own names count. The
 * description, which is the model's own word, gives way to the other up to half of the room.
 *
 * @param columns - Longer headings are cut to this many characters.
 */
export function toolHeading(
  call: Pick<ToolCallPayload, "name" | "arguments">,
  definition: ToolDefinition | undefined,
  columns: number,
): string {
  const { description, other } = subject(call.arguments, definition?.parameters);
  const name = `● ${oneLine(call.name)}`;
  const room = columns - name.length - 4;
  const said = shortened(description, Math.max(1, room >> 1, room - other.length));
  return shortened([name, said, other].filter((part) => part !== "").join("  "), columns);
}

/**
 * The heading of a call whose arguments are still arriving: its name, and as much as has come of its description, if its
 * schema says that it has one.
 *
 * @param argumentsSoFar - The beginning of a JSON object.
 */
export function streamedHeading(
  name: string,
  argumentsSoFar: string,
  definition: ToolDefinition | undefined,
  columns: number,
): string {
  const isDescribed = Object.hasOwn(asObject(definition?.parameters?.properties), "description");
  const [, text = ""] = (isDescribed && DESCRIPTION_SO_FAR.exec(argumentsSoFar)) || [];
  const { description } = parsedObject(`{"description":"${text}"}`);
  const said = typeof description === "string" ? oneLine(description) : "";
  return shortened([`● ${oneLine(name)}`, said].filter((part) => part !== "").join("  "), columns);
}

/** The description is asked for first. */
const DESCRIPTION_SO_FAR = /^\s*\{\s*"description"\s*:\s*"((?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*)/;

/** Cuts a line to a number of characters, without splitting one. */
export function shortened(line: string, maxCharacters: number): string {
  if (line.length <= maxCharacters) return line;
  const characters = [...line.slice(0, maxCharacters * 2 + 1)];
  return characters.length <= maxCharacters ? line : `${characters.slice(0, maxCharacters - 1).join("")}…`;
}

function subject(
  argumentsJson: string,
  schema: Readonly<Record<string, unknown>> | undefined,
): { description: string; other: string } {
  const args = parsedObject(argumentsJson);
  const properties = Object.keys(asObject(schema?.properties));
  const firstText = (names: readonly string[]): string => {
    const text = names
      .filter((name) => Object.hasOwn(args, name))
      .map((name) => args[name])
      .find((value) => typeof value === "string" && value.trim() !== "");
    return typeof text === "string" ? oneLine(text) : "";
  };
  const isDescription = (name: string): boolean =>
    name === "description" && (schema === undefined || properties.includes(name));
  const names = [...properties, ...Object.keys(args)];
  return {
    description: firstText(names.filter(isDescription)),
    other: firstText(names.filter((name) => !isDescription(name))),
  };
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
