import type { ToolDefinitionConfig } from "../environment/contract.ts";
import type { Toolset } from "../environment/toolset.ts";
import { findToolset, toolsetDefinitions } from "../environment/toolset-registry.ts";
import type { SystemConfig } from "./system-config.ts";

/** The toolset of a session and the definitions in force, of which nothing is merged from those that ship. */
export interface ChosenTools {
  readonly toolset: Toolset;
  readonly definitions: readonly ToolDefinitionConfig[];
}

/**
 * The toolset that is asked for, else the agent's, else `standard`. The agent's own definitions stand in place of those
 * that ship, but not in another toolset than the agent's.
 *
 * @throws {RookeryError} `config-invalid` for a toolset that is not known.
 */
export function chooseTools(asked: string | undefined, { toolset: own, tools = {} }: SystemConfig): ChosenTools {
  const toolset = findToolset(asked ?? own);
  const definitions = toolset === findToolset(own) ? tools.builtin : undefined;
  return { toolset, definitions: definitions ?? toolsetDefinitions(toolset.name) };
}
