import type { ToolUsage } from "../omnimessage/message.ts";
import type { ToolDefinitionConfig } from "./contract.ts";
import type { SchemaType } from "./schema-type.ts";
import type { CallTraits } from "./tool.ts";

interface TextContent {
  readonly type: "text";
  readonly text: string;
}

export interface ImageContent {
  readonly type: "image";
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
}

/** What an AgentTool answers (PI-007 to PI-014). */
export interface AgentToolResult<TDetails = unknown> {
  /** What the model gets: texts joined by newlines, images behind them. */
  readonly content: readonly (TextContent | ImageContent)[];
  /** For logs and user interfaces; never reaches a model. */
  readonly details?: TDetails;
  /** What the tool itself spent. */
  readonly usage?: ToolUsage;
  readonly addedToolNames?: readonly string[];
  /** A hint that no further request is needed. */
  readonly terminate?: boolean;
  /** The call failed, and `content` says why. */
  readonly isError?: boolean;
}

/** Shows how a call gets on; ignored once the call has settled (PI-018, PI-019). */
export type AgentToolUpdateCallback<TDetails = unknown> = (partialResult: AgentToolResult<TDetails>) => void;

/** The arguments that fit a schema; any object, where the schema's type does not tell. */
type ToolParameters<TSchema> =
  SchemaType<TSchema> extends infer Type ? (unknown extends Type ? Record<string, unknown> : Type) : never;

/**
 * The friendly form of a tool: one function from arguments to a result (PI-001 to PI-006).
 *
 * `execute` throws when the call cannot go on: that is `aborted` or `timeout` when `signal` has fired, else `failed`
 * (a `TimeoutError` of the tool's own: `timeout`) with the error's message as the output. `parameters` is any JSON Schema of type object; `params` follows from it.
 */
export interface AgentTool<TParameters extends object = object, TDetails = unknown>
  extends AgentToolDefinition<TParameters> {
  execute(
    toolCallId: string,
    params: ToolParameters<TParameters>,
    signal?: AbortSignal,
    onUpdate?: AgentToolUpdateCallback<TDetails>,
    context?: unknown,
  ): Promise<AgentToolResult<TDetails>>;
}

/** An AgentTool that is given the application's own context (`toolContext`). */
export interface AgentHarnessTool<TContext, TParameters extends object = object, TDetails = unknown>
  extends AgentToolDefinition<TParameters> {
  execute(
    toolCallId: string,
    params: ToolParameters<TParameters>,
    signal: AbortSignal | undefined,
    onUpdate: AgentToolUpdateCallback<TDetails> | undefined,
    context: TContext,
  ): Promise<AgentToolResult<TDetails>>;
}

interface AgentToolDefinition<TParameters extends object>
  extends Omit<CallTraits, "prepareArguments" | "assessState">,
    Pick<ToolDefinitionConfig, "timeoutMs" | "maxOutputLength" | "truncation"> {
  readonly name: string;
  /** For people. */
  readonly label: string;
  readonly description: string;
  readonly parameters: TParameters;
  /** Offered only after the output of some call has named it in `addedToolNames`. */
  readonly hidden?: boolean;
  /** Turns raw arguments into those the schema wants; runs before they are checked (PI-003). */
  prepareArguments?(args: unknown): ToolParameters<TParameters>;
}

/** Types a tool by its schema, without a type having to be written. */
export function defineTool<const TParameters extends object, TDetails = unknown>(
  tool: AgentTool<TParameters, TDetails>,
): AgentTool<TParameters, TDetails> {
  return tool;
}
