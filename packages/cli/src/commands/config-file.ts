import { agentPaths, dataRoot } from "@rookery/core";
import type { CommandContext } from "../command-line.ts";
import type { OutputMode } from "../flags.ts";

/** The flags of every command that works on a project's configuration. */
export interface ConfigFlags {
  readonly root?: string;
  readonly project?: string;
  readonly output?: OutputMode;
}

/** Where the project's configuration is. */
export function configFile({ root, project = "default_project" }: ConfigFlags, { io }: CommandContext): string {
  return agentPaths(dataRoot(root, io.env), project, "default_agent").projectConfigFile;
}
