import type { CompactionSettings } from "../engine/compaction/settings.ts";
import type { Hooks } from "../engine/hooks.ts";
import type { AgentTool } from "../environment/agent-tool.ts";
import type { CreateEnvironment, OnWarning, ToolSource } from "../environment/contract.ts";
import type { SandboxSettings } from "../environment/sandbox/settings.ts";
import type { BuiltinTool } from "../environment/tool.ts";
import type { CreateLLM, ThinkingLevelName } from "../llm/contract.ts";
import type { UndoSettings } from "../session/undo/settings.ts";

/** What a program may put in place of the built-in parts, or beside them. */
export interface Injection {
  /** Makes the model of each model context; with it no key is asked for. */
  readonly createLLM?: CreateLLM;
  /** How the built-in model sends its requests; default: Node's `fetch`, through the proxies that `env` names. */
  readonly fetch?: typeof fetch;
  /** Makes what executes the tools. */
  readonly createEnvironment?: CreateEnvironment;
  /** The built-in tools: `standard`, `strict` or `minimal`; default: the agent's, else `standard`. */
  readonly toolset?: string;
  readonly toolSources?: readonly ToolSource[];
  /** Tools beside the built-in ones, of either kind. */
  // biome-ignore lint/suspicious/noExplicitAny: a list of tools whose parameter types differ has no narrower type.
  readonly tools?: readonly (BuiltinTool | AgentTool<any, any>)[];
  readonly hooks?: Hooks;
  /** Handed to every AgentTool as its fifth argument. */
  readonly toolContext?: unknown;
  /** `sequential` makes every call wait for the one before; default `parallel`. A toolset may fix it. */
  readonly toolExecution?: "parallel" | "sequential";
  /** What commands and file tools may touch; what is left out is as the user's `config.yaml` says, else off. */
  readonly sandbox?: Partial<SandboxSettings>;
  /** Default: one line on standard error. */
  readonly onWarning?: OnWarning;
}

export interface AgentOptions extends Injection {
  /** Default `default_agent`. */
  readonly agentId?: string;
  /** Default `default_project`. */
  readonly projectId?: string;
  /** The data directory; default `ROOKERY_HOME`, else `~/.rookery`. */
  readonly root?: string;
  /** Default: the process's own. */
  readonly env?: NodeJS.ProcessEnv;
  /**
   * Gets every request of the built-in model and every answer as JSON lines, without credentials (docs/configuration.md);
   * created for its owner alone, appended to where it exists. What cannot be written is a warning, once.
   */
  readonly debugFile?: string;
}

/** Every injection of the agent can be replaced for one session; hooks and tools add to the agent's. */
export interface SessionOptions extends Injection {
  /** Must exist; absent: a fresh directory below the agent's own. */
  readonly workspaceDir?: string;
  /** With `modelId`; absent: `ROOKERY_MODEL`, else the project's default. */
  readonly provider?: string;
  readonly modelId?: string;
  readonly clientType?: string;
  readonly baseUrl?: string;
  readonly thinkingLevel?: ThinkingLevelName;
  /**
   * Whether the model sees images, which decides what tools it is offered; default: as configuration or catalogue say,
   * else it does not. `unknown`: the tools for both kinds of models.
   */
  readonly vision?: boolean | "unknown";
  /** The most requests of one task; absent: as the agent says; zero or less: no limit. */
  readonly maxTurns?: number;
  /** In place of the default prompt; fully assembled. */
  readonly systemPrompt?: string;
  /** The longest wait for the next event of a reply; default 120000, zero or less: none. */
  readonly requestTimeoutMs?: number;
  /** When and how room is made in the model context; absent: as the agent says, else as the project does. `model` makes the summaries. */
  readonly compaction?: CompactionSettings & {
    readonly model?: { readonly provider: string; readonly modelId: string };
  };
  /** Whether and how much is kept so that `session.undo` can put it back; what is left out is as the project says. */
  readonly undo?: UndoSettings;
  /** Stands in the record, for whoever looks for sessions that did not come about in the usual way (`replay`). */
  readonly source?: string;
}
