import { RookeryError } from "../errors/rookery-error.ts";
import type { ToolDefinitionConfig } from "./contract.ts";
import { standard } from "./tool-registry.ts";
import type { Toolset } from "./toolset.ts";
import { minimal } from "./toolsets/minimal.ts";
import { strict } from "./toolsets/strict.ts";

/** Every toolset, the default first. A new one is a file in `toolsets/` and a name here. */
const toolsets: readonly Toolset[] = [standard, strict, minimal];

/** A toolset by its name; absent: `standard`. @throws {RookeryError} `config-invalid` for a name that is not known. */
export function findToolset(name: string = standard.name): Toolset {
  const found = toolsets.find((toolset) => toolset.name === name);
  if (found) return found;
  throw new RookeryError("config-invalid", `no toolset is named ${JSON.stringify(name)}`, {
    hint: `use one of ${toolsets.map((toolset) => toolset.name).join(", ")}`,
  });
}

/** The definitions of a toolset, as they ship. @throws {RookeryError} As `findToolset`. */
export function toolsetDefinitions(name?: string): readonly ToolDefinitionConfig[] {
  return findToolset(name).tools.map(({ definition }) => definition);
}
