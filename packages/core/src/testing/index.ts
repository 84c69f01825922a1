/*
 * What tests of and around Rookery need: a model that answers from a script, an agent on a temporary directory, and a
 * run that is checked against the rules of the protocol.
 */
export { ruleViolations } from "./check-rules.ts";
export { type CollectedRun, collectRun, readTraceMessages } from "./collect-run.ts";
export {
  type ScriptedCall,
  type ScriptedLLM,
  type ScriptedReply,
  type ScriptedTurn,
  scriptedLLM,
} from "./scripted-llm.ts";
export { type TempAgent, tempAgent } from "./temp-agent.ts";
