import type { AgentPaths } from "./paths.ts";
import { type ProjectConfig, readProjectConfig } from "./project-config.ts";
import { readSystemConfig, type SystemConfig } from "./system-config.ts";

/** What the files say, as it is read when a session is made and kept for its life. */
export interface SessionConfig {
  /** Its `compaction` is the agent's, key by key, where the agent has one. */
  readonly project: ProjectConfig;
  readonly agent: SystemConfig;
}

/** @throws {RookeryError} `config-invalid`. */
export async function readSessionConfig(paths: AgentPaths): Promise<SessionConfig> {
  const project = await readProjectConfig(paths.projectConfigFile);
  const agent = await readSystemConfig(paths.systemConfigFile);
  return { project: { ...project, compaction: { ...project.compaction, ...agent.compaction } }, agent };
}
