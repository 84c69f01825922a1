/*
 * The public surface of @rookery/core: a table of contents. The message types and builders are also at
 * `@rookery/core/omnimessage`, which is free of Node; pi's agents are at `@rookery/core/pi`, and what tests need is
 * at `@rookery/core/testing`.
 */

// Agents and sessions: where a program starts.
export { type Agent, createAgent } from "./agent/agent.ts";
export type { AgentOptions, Injection, SessionOptions } from "./agent/agent-options.ts";
export { addModel, removeModel, setDefaultModel, setVisionModel } from "./agent/edit-project-config.ts";
// Configuration: what the command line edits.
export { addRules, removeRule } from "./agent/edit-rules.ts";
export { keySource, vendorKeyVariable } from "./agent/model-key.ts";
export { type ModelWish, modelPair, parseModelName } from "./agent/model-name.ts";
export { type ModelSetting, type ModelSettings, modelSettings, storedModel } from "./agent/model-settings.ts";
export { agentPaths, dataRoot } from "./agent/paths.ts";
export { type ModelEntry, type ModelName, type ProjectConfig, readProjectConfig } from "./agent/project-config.ts";
// What `rookery doctor` looks at.
export { type ModelChoice, resolveModel } from "./agent/resolve-model.ts";
export { secretFiles } from "./agent/secret-files.ts";
export { readSystemConfig, type SystemConfig } from "./agent/system-config.ts";
export { type ModelTest, type TestModelOptions, testModel } from "./agent/test-model.ts";
export { readUserConfig, type UserConfig } from "./agent/user-config.ts";
// Approval: the callback, what it is told, and the modes that terminal and server share.
export { type ApproverOptions, type AskFn, approver } from "./approval/approver.ts";
export { type CommandVerdict, checkCommand } from "./approval/check-command.ts";
export type {
  ApprovalAnswer,
  ApprovalContext,
  ApprovalDecision,
  ApprovalMode,
  ApproveFn,
  CallAssessment,
} from "./approval/contract.ts";
export { type CommandPolicy, type PolicyRule, policyRules } from "./approval/policy/command-policy.ts";
export { type ApprovalRule, type RuleTarget, ruleText } from "./approval/rule.ts";
export type { CallRestrictions } from "./approval/veto.ts";
export type { AfterToolCall, BeforeToolCall, HookedCall, Hooks, OutputOverride } from "./engine/hooks.ts";
export type { DeliveryMode, UndeliveredInput } from "./engine/input-queue.ts";
// Runs: what a caller gives one, and how it ends.
export { MAX_RECONNECTS } from "./engine/reconnect.ts";
export type { GoalOptions, GoalResult, RunCode, RunOptions, RunOutcome, Spending } from "./engine/run-outcome.ts";
// Tools: the interface, the built-in environment, and the two ways to write a tool.
export { toBuiltinTool } from "./environment/adapt-agent-tool.ts";
export {
  type AgentHarnessTool,
  type AgentTool,
  type AgentToolResult,
  type AgentToolUpdateCallback,
  defineTool,
} from "./environment/agent-tool.ts";
export type {
  BackgroundJob,
  BackgroundJobs,
  BackgroundReport,
  CommandSessionManager,
  CreateEnvironment,
  EnvironmentConfig,
  EnvironmentInterface,
  EnvironmentServices,
  ImageOptions,
  MCPServerConfig,
  OnWarning,
  SourceReport,
  SubagentHandle,
  SubagentRunner,
  SubagentSessionManager,
  ToolConfig,
  ToolDefinitionConfig,
  ToolExecutionRequest,
  ToolResult,
  ToolSource,
  VisionDescriberService,
} from "./environment/contract.ts";
export { Environment } from "./environment/environment.ts";
export { readUserImage } from "./environment/images/user-image.ts";
export { modelVisiblePath } from "./environment/model-visible-path.ts";
export { ProcessRegistry } from "./environment/process/process-registry.ts";
export { terminalProblem } from "./environment/process/start-in-terminal.ts";
export { type SandboxAvailability, sandboxAvailability } from "./environment/sandbox/availability.ts";
export { createSandbox, type Sandbox } from "./environment/sandbox/sandbox.ts";
export type { Confine, SandboxPlace, SandboxSettings } from "./environment/sandbox/settings.ts";
export type { BuiltinTool, BuiltinToolFactory, CallTraits, ToolExecutionContext } from "./environment/tool.ts";
export { BUILTIN_TOOL_FACTORIES, STANDARD_TOOLSET } from "./environment/tool-registry.ts";
export { type BashDetails, type BashToolOptions, createBashTool } from "./environment/tools/minimal/bash.ts";
export { createEditTool, type EditDetails, type EditToolOptions } from "./environment/tools/minimal/edit.ts";
export { createReadTool, type ReadDetails, type ReadToolOptions } from "./environment/tools/minimal/read.ts";
export { createWriteTool, type WriteDetails, type WriteToolOptions } from "./environment/tools/minimal/write.ts";
export { toolsetDefinitions } from "./environment/toolset-registry.ts";
// Errors: everything that is thrown on purpose.
export { errorText } from "./errors/error-text.ts";
export { type ErrorCode, RookeryError } from "./errors/rookery-error.ts";
// Models: the catalogue, prices, the interface, and the built-in implementation.
export {
  type CatalogueAge,
  type CatalogueModel,
  type CatalogueProvider,
  catalogueAge,
  catalogueModel,
  catalogueProvider,
  catalogueProviders,
} from "./llm/catalogue/catalogue.ts";
export { providerMeant } from "./llm/catalogue/provider-meant.ts";
export type {
  CreateLLM,
  GenerativeModelConfig,
  GenerativeModelParameters,
  LLMInterface,
  LLMOutcome,
  ThinkingLevelName,
  ToolCallIdAllocator,
} from "./llm/contract.ts";
export type { ModelPricing } from "./llm/cost.ts";
export { GenerativeModel } from "./llm/generative-model.ts";
export { type ProxyServer, proxyFor } from "./llm/network/proxy-for.ts";
export type { ModelProbe, ProbedFeature, ProbeFinding } from "./llm/probe-model.ts";
export { redactSecrets } from "./llm/redact-secrets.ts";
export { createToolCallIdAllocator } from "./llm/tool-call-ids.ts";
// Messages: the one envelope, its builders and guards.
export {
  assistantText,
  eventMessage,
  modelMessage,
  userData,
  userImage,
  userText,
  withOrigin,
} from "./omnimessage/build.ts";
export { type GoalInput, readGoalInput } from "./omnimessage/goal-input.ts";
export {
  isCompleteModelMessage,
  isEventMessage,
  isModelMessage,
  isPartialPayload,
  isSessionMeta,
  isType,
  ofType,
} from "./omnimessage/guards.ts";
export { toJsonLine } from "./omnimessage/json-lines.ts";
export type {
  CompletePayload,
  EventPayload,
  FinishReason,
  ImageUrlPayload,
  InlineDataPayload,
  InlineThinkingPayload,
  ModelPayload,
  OmniMessage,
  OmniPayload,
  PartialPayload,
  PartialTextPayload,
  PartialThinkingPayload,
  PartialToolCallOutputPayload,
  PartialToolCallPayload,
  Sender,
  SessionMetaPayload,
  StopReason,
  TextPayload,
  ThinkingPayload,
  TokenCounts,
  ToolCallOutputPayload,
  ToolCallPayload,
  ToolDefinition,
  ToolPermission,
  ToolRisk,
  ToolUsage,
} from "./omnimessage/message.ts";
// Replay: a recorded session run again, and what differs.
export type { CallResult, ReplayedCall } from "./session/replay/compare-calls.ts";
export { ReplayLLM, type ReplayLLMOptions } from "./session/replay/replay-llm.ts";
export {
  type ReplayOptions,
  type ReplayReport,
  replayTrace,
  type SessionMaker,
} from "./session/replay/replay-trace.ts";
export { runToEnd } from "./session/run-to-end.ts";
export type { BackgroundCommand, Session } from "./session/session.ts";
export type { ListedTool, ToolRunner } from "./session/tool-runner.ts";
export type { UndoAction } from "./session/undo/plan-file.ts";
export type { UndoSettings } from "./session/undo/settings.ts";
export type { UndoneFile, UndoOptions, UndoResult } from "./session/undo/undo-task.ts";
// Traces: reading what sessions left.
export type { ExportEntry } from "./trace/export-session.ts";
export type { ImportedSession, ImportOptions } from "./trace/import-session.ts";
export type { TraceEntry } from "./trace/read-trace.ts";
export { readTraceAt } from "./trace/read-trace-at.ts";
export type { SessionSummary } from "./trace/session-summary.ts";
