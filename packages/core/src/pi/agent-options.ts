import type { ApproveFn } from "../approval/contract.ts";
import type { Hooks } from "../engine/hooks.ts";
import type { DeliveryMode } from "../engine/input-queue.ts";
import type { AgentTool } from "../environment/agent-tool.ts";
import type { OnWarning } from "../environment/contract.ts";
import type { ThinkingLevelName } from "../llm/contract.ts";
import type { Model, StreamFn } from "./stream-fn.ts";

// biome-ignore lint/suspicious/noExplicitAny: a list of tools whose parameter types differ has no narrower type.
export type AnyTool = AgentTool<any, any>;

/** What an agent is. */
export interface InitialState {
  /** Default: none. */
  readonly systemPrompt?: string;
  /** Default: the one that the environment or the project names. */
  readonly model?: Model;
  readonly thinkingLevel?: ThinkingLevelName;
  /** All it has: no built-in tool is there but those that are given. */
  readonly tools?: readonly AnyTool[];
}

export interface AgentOptions extends Hooks {
  readonly initialState?: InitialState;
  /** What asks the model; default: the built-in model. */
  readonly streamFn?: StreamFn;
  /** How much of what was given to `steer` a request brings; default `one-at-a-time`. */
  readonly steeringMode?: DeliveryMode;
  /** The same of `followUp`. */
  readonly followUpMode?: DeliveryMode;
  /** `sequential` makes every call wait for the one before; default `parallel`. */
  readonly toolExecution?: "parallel" | "sequential";
  /** Handed to every tool as its fifth argument. */
  readonly toolContext?: unknown;
  /** Decides each call; default: every call may run. */
  readonly approve?: ApproveFn;
  /** The workspace; default: the process's own directory. */
  readonly cwd?: string;
  /** Where the session is recorded; default `ROOKERY_HOME`, else `~/.rookery`. */
  readonly root?: string;
  /** Default: one line on standard error. */
  readonly onWarning?: OnWarning;
}
