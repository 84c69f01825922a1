import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** Where skills are looked for, in the order in which they win: the agent's, the user's, the project's. */
export function skillRoots(agentStateDir: string, userSkillsDir: string, workspaceDir: string): string[] {
  return [join(agentStateDir, "skills"), userSkillsDir, join(repositoryOf(workspaceDir), ".agents", "skills")];
}

/** The nearest directory around with a `.git`; the workspace itself where there is none. */
function repositoryOf(workspaceDir: string): string {
  for (let directory = workspaceDir; ; directory = dirname(directory)) {
    if (existsSync(join(directory, ".git"))) return directory;
    if (dirname(directory) === directory) return workspaceDir;
  }
}
