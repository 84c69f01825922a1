import type { BuiltinToolModule } from "./tool.ts";

/** A named list of tools; their names are unique within it. */
export interface Toolset {
  readonly name: string;
  readonly tools: readonly BuiltinToolModule[];
  /** Agents add `read_skill` to it where there are skills. */
  readonly skills?: true;
  /** Agents add tools that start other agents to it: those of the person's configuration, `shipped` ones besides. */
  readonly nativeAgents?: "configured" | "shipped";
  /** How calls run, whatever the host says; absent: as it says. */
  readonly toolExecution?: "sequential";
}
