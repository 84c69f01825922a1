import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { AgentPaths } from "./paths.ts";

const PROJECT_CONFIG = "project_config.yaml";
const VAULT = join("agent_state", "vault.yaml");

/** The files of the data directory that no tool may touch, those of other projects and agents too; not all need exist. */
export function secretFiles({ root, userConfigFile, projectConfigFile, agentStateDir }: AgentPaths): string[] {
  const projects = directoriesIn(root);
  const agents = projects.flatMap((project) => directoriesIn(join(project, "agents")));
  const files = [
    userConfigFile,
    projectConfigFile,
    join(agentStateDir, "vault.yaml"),
    ...projects.map((project) => join(project, PROJECT_CONFIG)),
    ...agents.map((agent) => join(agent, VAULT)),
  ];
  return [...new Set(files)];
}

function directoriesIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(directory, entry.name));
  } catch {
    return [];
  }
}
