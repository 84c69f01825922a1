import { homedir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { RookeryError } from "../errors/rookery-error.ts";

/**
 * The directory of everything Rookery keeps: the option, else `ROOKERY_HOME`, else `~/.rookery`; always absolute.
 *
 * @throws {RookeryError} `config-invalid` where none is given and the user has no home.
 */
export function dataRoot(option?: string, env: NodeJS.ProcessEnv = process.env): string {
  return resolve(option || env.ROOKERY_HOME || join(home(), ".rookery"));
}

function home(): string {
  try {
    return homedir() || userInfo().homedir;
  } catch {
    throw new RookeryError("config-invalid", "this user has no home directory to keep anything in", {
      hint: "set ROOKERY_HOME, or give --root",
    });
  }
}

/** Where one agent of one project keeps its things; all absolute when the root is. */
export interface AgentPaths {
  readonly root: string;
  readonly userConfigFile: string;
  readonly userSkillsDir: string;
  readonly projectConfigFile: string;
  readonly agentDir: string;
  readonly agentStateDir: string;
  readonly systemConfigFile: string;
  /** Holds the workspaces of sessions that were given none. */
  readonly workspacesDir: string;
}

/**
 * Composes the paths of an agent; touches no disk.
 *
 * @throws {RookeryError} `config-invalid` for an id that could leave the root.
 */
export function agentPaths(root: string, projectId: string, agentId: string): AgentPaths {
  const projectDir = join(root, checkId("project", projectId));
  const agentDir = join(projectDir, "agents", checkId("agent", agentId));
  const agentStateDir = join(agentDir, "agent_state");
  return {
    root,
    userConfigFile: join(root, "config.yaml"),
    userSkillsDir: join(root, "skills"),
    projectConfigFile: join(projectDir, "project_config.yaml"),
    agentDir,
    agentStateDir,
    systemConfigFile: join(agentStateDir, "system_config.yaml"),
    workspacesDir: join(agentDir, "workspaces"),
  };
}

function checkId(kind: string, id: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(id)) return id;
  throw new RookeryError("config-invalid", `the ${kind} id ${JSON.stringify(id)} is not usable as a directory name`, {
    hint: "use letters, digits, _ and - only",
  });
}
