import type { ApproveFn, CallAssessment } from "../approval/contract.ts";
import type { OmniMessage, ToolRisk } from "../omnimessage/message.ts";
import type { EnvironmentConfig, ToolDefinitionConfig, ToolResult } from "./contract.ts";

/** What a tool is given with each call. */
export interface ToolExecutionContext {
  /** Absolute. */
  readonly workspaceDir: string;
  readonly toolCallId: string;
  /** Fires on interruption and on the call's time-out. */
  readonly signal?: AbortSignal;
  /** For tools that spawn child sessions. */
  readonly approve?: ApproveFn;
  /** The real paths the call was assessed with, which it must keep to; absent where the tool declares none. */
  readonly paths?: CallAssessment["paths"];
  /** What the tool's `assessState` answered when the call was assessed. */
  readonly state?: unknown;
  /** The application's own, as given to the environment. */
  readonly toolContext?: unknown;
}

type Args = Record<string, unknown>;
type AssessmentContext = Pick<ToolExecutionContext, "workspaceDir" | "paths">;

/** What a tool may say about its calls before they run. All are called with checked arguments and change nothing. */
export interface CallTraits {
  /** Default `process`. */
  readonly risk?: ToolRisk;
  /** The risk of one call, where it depends on the arguments. */
  assessRisk?(args: Args, context: AssessmentContext): ToolRisk | Promise<ToolRisk>;
  /** From this text alone a person decides; default: the tool's name and its arguments. */
  approvalSummary?(args: Args, context: AssessmentContext): string | Promise<string>;
  /** Default `parallel`. */
  readonly executionMode?: "parallel" | "sequential";
  /** The command line the call would run; `undefined` for a call that runs none. */
  commandText?(args: Args): string | undefined;
  /** Paths the call reads or writes, absolute or relative to the workspace. */
  paths?(args: Args): { read?: readonly string[]; write?: readonly string[] };
  /** Something to remember from assessment to execution; comes back as `context.state`. */
  assessState?(args: Args, context: AssessmentContext): unknown;
  /** Turns raw arguments into those the schema wants; runs before they are checked. */
  prepareArguments?(args: unknown): unknown;
}

/**
 * The tool contract inside the environment (PT-017): a tool yields `partial_tool_call_output` deltas and nothing else
 * it must know of. Framing, time-out, truncation, archive and the final message are the environment's.
 */
export interface BuiltinTool extends CallTraits {
  readonly name: string;
  readonly definition: ToolDefinitionConfig & { readonly label?: string; readonly hidden?: boolean };
  // biome-ignore lint/suspicious/noConfusingVoidType: a tool may simply end, as the seed has it.
  execute(args: Args, context: ToolExecutionContext): AsyncGenerator<OmniMessage, ToolResult | undefined | void>;
}

/** Makes a built-in tool for one environment, from its definition in force. */
export type BuiltinToolFactory = (definition: ToolDefinitionConfig, config: EnvironmentConfig) => BuiltinTool;

/** A built-in tool as its one file exports it: the definition that ships, and the factory. */
export interface BuiltinToolModule {
  readonly definition: ToolDefinitionConfig;
  readonly create: BuiltinToolFactory;
}
