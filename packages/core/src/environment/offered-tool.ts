import type { ToolDefinition, ToolPermission } from "../omnimessage/message.ts";
import { isRecord } from "../omnimessage/shape.ts";
import type { ToolDefinitionConfig } from "./contract.ts";
import type { BuiltinTool } from "./tool.ts";

/** A tool as an environment offers it. */
export interface OfferedTool {
  readonly tool: BuiltinTool;
  /** The schema in force. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly permission: ToolPermission;
}

/**
 * Settles what is offered of a tool. It has permission `r` only if its risk is `read_only` and its definition does not
 * say `rw`; a definition cannot lower a risk. `call_description: false` takes the `description` argument out of the
 * schema, on a copy (PT-080).
 */
export function offerTool(tool: BuiltinTool): OfferedTool {
  const { definition, risk } = tool;
  const permission = risk === "read_only" && definition.permission !== "rw" ? "r" : "rw";
  return { tool, parameters: parametersOf(definition), permission };
}

/** What the engine is told of a tool. */
export function toToolDefinition({ tool, parameters, permission }: OfferedTool): ToolDefinition {
  const { description, label, hidden } = tool.definition;
  return {
    name: tool.name,
    description,
    parameters,
    ...(label !== undefined && { label }),
    ...(hidden && { hidden }),
    permission,
  };
}

function parametersOf(definition: ToolDefinitionConfig): OfferedTool["parameters"] {
  const parameters = definition.parameters ?? { type: "object", properties: {} };
  if (definition.call_description !== false) return parameters;
  const { properties, required } = parameters;
  return {
    ...parameters,
    ...(isRecord(properties) && { properties: withoutDescription(properties) }),
    ...(Array.isArray(required) && { required: required.filter((name) => name !== "description") }),
  };
}

function withoutDescription({ description: _, ...properties }: Record<string, unknown>): Record<string, unknown> {
  return properties;
}
