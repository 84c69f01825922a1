/*
 * What tests of and around Rookery need: a model that answers from a script, in the program or over HTTP, an agent on a
 * temporary directory, and a run that is checked against the rules of the protocol.
 */
export { type EnvironmentCheckOptions, environmentViolations } from "./check-environment.ts";
export { type CheckReplayOptions, checkReplay } from "./check-replay.ts";
export { ruleViolations } from "./check-rules.ts";
export { type CollectedRun, collectRun, readTraceMessages } from "./collect-run.ts";
export type { SampleCall } from "./environment/sample-calls.ts";
export type { ProviderRequest } from "./provider-server/answer-request.ts";
export type { ProviderErrorKind, ProviderFault } from "./provider-server/faults.ts";
export {
  type ProviderClientType,
  type ProviderServer,
  type ProviderServerOptions,
  startProviderServer,
} from "./provider-server/provider-server.ts";
export type {
  ProviderCall,
  ProviderImage,
  ProviderPart,
  ProviderReply,
  ProviderScript,
  ProviderTurn,
} from "./provider-server/script.ts";
export {
  type ScriptedCall,
  type ScriptedLLM,
  type ScriptedReply,
  type ScriptedTurn,
  scriptedLLM,
} from "./scripted-llm.ts";
export { type TempAgent, tempAgent } from "./temp-agent.ts";
