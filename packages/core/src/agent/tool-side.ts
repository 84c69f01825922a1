import type { VetoFn } from "../approval/contract.ts";
import type { ToolSide } from "../engine/engine.ts";
import { joinHooks } from "../engine/hooks.ts";
import { ToolOffer } from "../engine/tool-offer.ts";
import { isBuiltinTool, toBuiltinTool } from "../environment/adapt-agent-tool.ts";
import type {
  CommandSessionManager,
  EnvironmentConfig,
  ImageOptions,
  MCPServerConfig,
  OnWarning,
  ToolSource,
  VisionDescriberService,
} from "../environment/contract.ts";
import { Environment } from "../environment/environment.ts";
import type { FileGuard } from "../environment/files/file-guard.ts";
import { quietly } from "../environment/warn-on-stderr.ts";
import type { Injection } from "./agent-options.ts";
import { chooseTools } from "./choose-tools.ts";
import { agentSource } from "./native-agents/agent-source.ts";
import type { AgentPaths } from "./paths.ts";
import { readProjectConfig } from "./project-config.ts";
import { secretFiles } from "./secret-files.ts";
import type { SessionSandbox } from "./session-sandbox.ts";
import type { SkillLimits } from "./skills/find-skills.ts";
import { skillRoots } from "./skills/skill-roots.ts";
import { skillSource } from "./skills/skill-source.ts";
import type { SystemConfig } from "./system-config.ts";
import { readUserConfig } from "./user-config.ts";

/** Where and for whom the tools of one session work. */
export interface ToolPlace {
  readonly workspaceDir: string;
  readonly scratchpadDir: string;
  /** Whether the session's model sees images; `unknown`: tools for both kinds of models are offered. */
  readonly vision: boolean | "unknown";
  readonly commandSessions: CommandSessionManager;
  /** What the file tools of the session know; absent: nothing yet. */
  readonly files?: FileGuard;
  /** What the model was offered before; absent: nothing yet. */
  readonly offer?: ToolOffer;
  readonly sandbox: SessionSandbox;
}

/**
 * Joins what was given to the agent and to one session into the tools of that session. What the session was given stands in
 * place of the agent's; tools and hooks are added to it.
 *
 * @param parts.system - The agent's own file.
 * @param parts.sources - The tool sources that hold for this session.
 * @throws {RookeryError} `config-invalid` for a toolset that is not known and a broken file of the person's configuration,
 *   `tool-duplicate`.
 */
export async function toolSide(parts: {
  readonly ofAgent: Injection;
  readonly ofSession: Injection;
  readonly system: SystemConfig;
  readonly sources: readonly ToolSource[];
  readonly paths: AgentPaths;
  readonly veto: VetoFn;
  readonly env: NodeJS.ProcessEnv;
  readonly place: ToolPlace;
  readonly images: ImageOptions;
  readonly visionDescriber: VisionDescriberService;
}): Promise<ToolSide> {
  const { ofAgent, ofSession, system, paths, veto, place, images, visionDescriber } = parts;
  const given = { ...ofAgent, ...ofSession };
  const { workspaceDir, commandSessions } = place;
  const onWarning = quietly(given.onWarning);
  const extra = [...(ofAgent.tools ?? []), ...(ofSession.tools ?? [])];
  const forThisModel = ({ forModel }: { forModel?: "vision" | "text-only" }): boolean =>
    forModel === undefined || place.vision === "unknown" || (forModel === "vision") === place.vision;
  const { toolset, definitions } = chooseTools(given.toolset, system);
  const { mcpServers = [] } = system.tools ?? {};
  if (mcpServers.length > 0) onWarning(notConnected(paths.systemConfigFile, mcpServers));
  const userConfig = await readUserConfig(paths.userConfigFile, onWarning);
  const skills = toolset.skills ? [skillsOf(paths, workspaceDir, onWarning)] : [];
  const agentHost = { commandSessions, env: parts.env, configFile: paths.userConfigFile };
  const agents = toolset.nativeAgents
    ? [agentSource(toolset.nativeAgents, userConfig.native_agents ?? {}, agentHost)]
    : [];
  const config: EnvironmentConfig = {
    workspaceDir,
    toolConfig: { customTools: definitions.filter(forThisModel), mcpServers },
    toolset: toolset.name,
    sessionScratchpadDir: place.scratchpadDir,
    services: {
      commandSessions,
      visionDescriber,
      sandbox: place.sandbox.sandbox,
      ...(place.files && { files: place.files }),
    },
    images,
    sandbox: place.sandbox.settings,
    tools: extra
      .map((tool) => (isBuiltinTool(tool) ? tool : toBuiltinTool(tool)))
      .filter((tool) => forThisModel(tool.definition)),
    toolSources: [...agents, ...skills, ...parts.sources],
    toolContext: given.toolContext,
    protectedPaths: secretFiles(paths),
    onWarning,
  };
  return {
    environment: given.createEnvironment?.(config) ?? new Environment(config),
    hooks: joinHooks(ofAgent.hooks, ofSession.hooks),
    veto,
    toolExecution: toolset.toolExecution ?? given.toolExecution ?? "parallel",
    workspaceDir,
    offer: place.offer ?? new ToolOffer(),
    onWarning,
  };
}

function notConnected(file: string, servers: readonly MCPServerConfig[]): Parameters<OnWarning>[0] {
  const names = servers.map(({ name }) => name).join(", ");
  const message = `MCP servers cannot be connected yet; those that ${file} names have no tools: ${names}`;
  return { code: "mcp-not-connected", message };
}

const MAX_SKILLS = 64;
const MAX_SKILL_BYTES = 65_536;

function skillsOf(paths: AgentPaths, workspaceDir: string, onWarning: OnWarning): ToolSource {
  const readLimits = async (): Promise<SkillLimits> => {
    const { skills } = await readProjectConfig(paths.projectConfigFile);
    return { maxSkills: skills?.max_skills ?? MAX_SKILLS, maxSkillBytes: skills?.max_skill_bytes ?? MAX_SKILL_BYTES };
  };
  return skillSource(skillRoots(paths.agentStateDir, paths.userSkillsDir, workspaceDir), readLimits, onWarning);
}
