/*
 * pi's words for what Rookery does, for programs written in them: an agent and its events over a Rookery session, tools as
 * one function, and four of them ready made. Everything else is at `@rookery/core`.
 */

export {
  type AgentHarnessTool,
  type AgentTool,
  type AgentToolResult,
  type AgentToolUpdateCallback,
  defineTool,
} from "../environment/agent-tool.ts";
export { type BashDetails, type BashToolOptions, createBashTool } from "../environment/tools/minimal/bash.ts";
export { createEditTool, type EditDetails, type EditToolOptions } from "../environment/tools/minimal/edit.ts";
export { createReadTool, type ReadDetails, type ReadToolOptions } from "../environment/tools/minimal/read.ts";
export { createWriteTool, type WriteDetails, type WriteToolOptions } from "../environment/tools/minimal/write.ts";
export { Agent, type AgentListener, type AgentState } from "./agent.ts";
export type { AgentEvent, AssistantMessageEvent } from "./agent-event.ts";
export { AgentEventView, agentEvents } from "./agent-events.ts";
export { AgentHarness, type AgentHarnessOptions } from "./agent-harness.ts";
export type {
  AgentMessage,
  AssistantBlock,
  AssistantMessage,
  ContentBlock,
  ToolCallBlock,
  ToolResultMessage,
  UserMessage,
} from "./agent-message.ts";
export type { AgentOptions, InitialState } from "./agent-options.ts";
export type { Model, StreamContext, StreamEvent, StreamFn } from "./stream-fn.ts";
