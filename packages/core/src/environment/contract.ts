import type { ApproveFn, CallAssessment } from "../approval/contract.ts";
import type { LLMInterface } from "../llm/contract.ts";
import type {
  OmniMessage,
  StopReason,
  ToolCallPayload,
  ToolDefinition,
  ToolPermission,
  ToolUsage,
} from "../omnimessage/message.ts";
import type { FileGuard } from "./files/file-guard.ts";
import type { CommandSessions } from "./process/command-sessions.ts";
import type { RunningProcess, RunOptions } from "./process/run-process.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import type { SandboxSettings } from "./sandbox/settings.ts";
import type { BuiltinTool } from "./tool.ts";

/**
 * What executes tools. It never throws into the engine: whatever goes wrong is a `tool_call_output` the model can read.
 */
export interface EnvironmentInterface {
  listTools(): Promise<ToolDefinition[]>;
  /** Yields output fragments and ends with exactly one complete `tool_call_output`; messages with `origin` pass through. */
  executeTool(request: ToolExecutionRequest): AsyncGenerator<OmniMessage>;
  /** `undefined` for a name it does not know. */
  toolPermission(name: string): ToolPermission | undefined;
  /** Finds out what a call would do and changes nothing; absent: calls run in parallel, at the risk of their permission. */
  assessCall?(toolCall: OmniMessage<ToolCallPayload>): Promise<CallAssessment>;
  /** Resolves when every process has ended; may be called twice. */
  dispose?(): void | Promise<void>;
}

/** One approved call. */
export interface ToolExecutionRequest {
  readonly toolCall: OmniMessage<ToolCallPayload>;
  readonly signal?: AbortSignal;
  /** Handed on to tools that spawn child sessions. */
  readonly approve?: ApproveFn;
  /** What a hook replaced the arguments with; absent: the call's own. */
  readonly args?: Record<string, unknown>;
  /** What `assessCall` answered for these arguments. */
  readonly assessment?: CallAssessment;
}

/** Tells what a person should know and nothing fails over. */
export type OnWarning = (warning: { readonly code: string; readonly message: string }) => void;

export interface EnvironmentConfig {
  /** Absolute. */
  readonly workspaceDir: string;
  readonly toolConfig: ToolConfig;
  /** Whose tools `toolConfig.customTools` names; default `standard`. */
  readonly toolset?: string;
  /** The session's own scratch directory; switches the archiving of cut output on. */
  readonly sessionScratchpadDir?: string;
  readonly services?: EnvironmentServices;
  /** Environment variables of commands; values of eight characters or more never appear in output. */
  readonly vault?: Readonly<Record<string, string>>;
  /** Tools beside those of `toolConfig`. */
  readonly tools?: readonly BuiltinTool[];
  readonly toolSources?: readonly ToolSource[];
  /** Given to tools as their fifth argument (pi's `AgentHarnessTool`). */
  readonly toolContext?: unknown;
  /** Absolute paths that no file tool may touch: the harness's own secret files. */
  readonly protectedPaths?: readonly string[];
  readonly images?: ImageOptions;
  /** What commands and file tools may touch; default: whatever the user may. Applied by the `Environment`, not by a tool alone. */
  readonly sandbox?: SandboxSettings;
  readonly onWarning?: OnWarning;
}

/** How image tools fetch what has an address. */
export interface ImageOptions {
  /** Also from this machine and private networks; default false. */
  readonly allowPrivateAddresses?: boolean;
  /** Names the proxies; default: the process's own. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface ToolConfig {
  /** Definitions of built-in tools; an empty list means no built-in tool. */
  readonly customTools: readonly ToolDefinitionConfig[];
  readonly mcpServers: readonly MCPServerConfig[];
}

/** A tool as configuration writes it (PC-074). */
export interface ToolDefinitionConfig {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, as the model sees it. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly permission?: ToolPermission;
  /** Offered only to sessions whose model is of this class; absent: to all. */
  readonly forModel?: "vision" | "text-only";
  /** Per call; default 120000, zero or less: none. */
  readonly timeoutMs?: number;
  /** In characters; default 16000, zero or less: none. */
  readonly maxOutputLength?: number;
  /** What stays of output that is too long: its head (default), or a quarter head and three quarters tail. */
  readonly truncation?: "head" | "head_tail";
  /** `false` takes the `description` argument out of the schema; absent: kept. */
  readonly call_description?: boolean;
}

export interface MCPServerConfig {
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** Runtime services for individual tools; those that the environment can build itself it builds when they are absent. */
export interface EnvironmentServices {
  readonly subagentRunner?: SubagentRunner;
  readonly visionDescriber?: VisionDescriberService;
  readonly commandSessions?: CommandSessionManager;
  readonly subagentSessions?: SubagentSessionManager;
  /** What the file tools of one session share. */
  readonly files?: FileGuard;
  /** Made for `sandbox`; `commandSessions` that come with it confine by it. */
  readonly sandbox?: Sandbox | undefined;
}

/** What runs commands for one session and keeps those that go on; two environments may share one. */
export interface CommandSessionManager {
  /** Starts a process that `dispose` ends at the latest. */
  run(options: RunOptions): RunningProcess;
  /** A tool has changed something that the profile of a shell may read. */
  renewShell?(): void;
  readonly sessions: CommandSessions;
  /** Ends every process that is still alive; may be called twice. */
  dispose(): Promise<void>;
}

/** What goes on behind the calls of one session. */
export interface BackgroundJobs {
  /** Those that run, and those that have ended and were not reported, the least recently used first. */
  list(): readonly BackgroundJob[];
  /** Whether `takeReports` would give something. */
  readonly hasReports: boolean;
  /** The reports of those that have ended; each is given once, and none of one whose end a call has told. */
  takeReports(): BackgroundReport[];
  /** Ends one without a report; false for one that does not run. */
  kill(id: string): Promise<boolean>;
  /** Told when one has ended. */
  onSettled(listener: () => void): void;
}

export interface BackgroundJob {
  readonly kind: "command";
  /** By which the model knows it. */
  readonly id: string;
  /** What was started, in full; without values of the vault. */
  readonly title: string;
  readonly startedAt: Date;
  readonly status: "running" | "ended";
}

/** How one has ended. */
export interface BackgroundReport extends Pick<BackgroundJob, "kind" | "id" | "title"> {
  /** `ended_with_harness`: nobody was there to see how. */
  readonly status: StopReason | "ended_with_harness";
  readonly detail: string;
  /** The end of what it printed that nobody has read. */
  readonly output: string;
  /** Characters before it that can be read by its id. */
  readonly unreadChars: number;
}

/** What holds the child sessions of one session. */
export interface SubagentSessionManager {
  dispose(): Promise<void>;
}

/** Makes child sessions; injected where the agent is composed (PC-092 to PC-101). */
export interface SubagentRunner {
  /** Throws what is known beforehand (depth, unknown agent). `provider` and `modelId` come as a pair. */
  spawn(input: { agentId?: string; provider?: string; modelId?: string }): Promise<SubagentHandle>;
}

export interface SubagentHandle {
  readonly sessionId: string;
  run(input: { prompt: string; signal?: AbortSignal; approve?: ApproveFn }): AsyncGenerator<OmniMessage>;
  dispose(): void | Promise<void>;
}

/** Reads images for models that cannot see. */
export interface VisionDescriberService {
  /** `null` when the project names no vision model. */
  readonly modelId: string | null;
  /** A fresh model for one description, with no tools and no system prompt. */
  readonly createLLM?: () => LLMInterface;
}

/** Where tools come from. The environment merges sources in order and rejects a name that is there twice. */
export interface ToolSource {
  readonly id: string;
  /** Called once, before the first `tools()`. */
  connect?(signal: AbortSignal): Promise<SourceReport>;
  tools(): Promise<readonly BuiltinTool[]>;
  /** Tells of a changed list from then on. */
  onChange?(listener: () => void): void;
  dispose(): void | Promise<void>;
}

export interface SourceReport {
  readonly server: string;
  readonly transport: string;
  readonly status: "completed" | "failed" | "aborted";
  readonly duration_ms: number;
  readonly tools?: readonly string[];
  readonly error?: string;
}

export type CreateEnvironment = (config: EnvironmentConfig) => EnvironmentInterface;

/** What a tool reports about itself when it is done. */
export interface ToolResult {
  /** The tool's own view of how it went; interruption, time-out and throw rank above it. */
  readonly stopReason?: StopReason;
  /** Appended after the text, outside the truncation window (an exit code). */
  readonly note?: string;
  /** Data URLs, appended after the text. */
  readonly images?: readonly string[];
  /** For people and programs; never reaches a model. */
  readonly details?: unknown;
  readonly usage?: ToolUsage;
  readonly terminate?: boolean;
  readonly addedToolNames?: readonly string[];
}
