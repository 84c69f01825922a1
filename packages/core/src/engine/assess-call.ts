import type { CallAssessment } from "../approval/contract.ts";
import { argumentObject, parseArguments } from "../environment/parse-arguments.ts";
import { unknownTool } from "../environment/unknown-tool.ts";
import { errorText } from "../errors/error-text.ts";
import type { OmniMessage, ToolCallPayload } from "../omnimessage/message.ts";
import type { ToolSide } from "./engine.ts";
import { INTERRUPTED, unlessAborted } from "./interruption.ts";

/** What the model reads instead of an output when a reply ended at its length limit inside this call. */
export const CUT_CALL_OUTPUT = "The reply reached the output limit inside this call. Nothing was run.";

/**
 * Finds out what a call would do. A call that cannot run has an `error`; nothing here throws.
 *
 * An environment without `assessCall` gets the least that keeps a person safe: parallel, and `process` unless the tool
 * only reads.
 */
export async function assessCall(
  tools: ToolSide,
  toolCall: OmniMessage<ToolCallPayload>,
  signal: AbortSignal,
): Promise<CallAssessment> {
  const { name, stop_reason } = toolCall.payload;
  if (stop_reason === "malformed") return cannotRun(toolCall, CUT_CALL_OUTPUT);
  if (!tools.offer.has(name)) return cannotRun(toolCall, unknownTool(name, tools.offer.tools));
  try {
    if (!tools.environment.assessCall) return assessUnseen(tools, toolCall);
    const assessment = await unlessAborted(tools.environment.assessCall(toolCall), signal);
    if (assessment === INTERRUPTED) return cannotRun(toolCall, "the run was interrupted");
    if (typeof assessment?.summary !== "string") throw new TypeError("the environment gave no assessment");
    return assessment;
  } catch (error) {
    return cannotRun(toolCall, `[tool error] the call could not be assessed: ${errorText(error)}`);
  }
}

function assessUnseen(tools: ToolSide, toolCall: OmniMessage<ToolCallPayload>): CallAssessment {
  const { name } = toolCall.payload;
  const parsed = parseArguments(name, toolCall.payload.arguments);
  const object = "error" in parsed ? parsed : argumentObject(name, parsed.value);
  if ("error" in object) return cannotRun(toolCall, object.error);
  const readOnly = tools.environment.toolPermission(name) === "r";
  return {
    ...object,
    risk: readOnly ? "read_only" : "process",
    summary: callSummary(toolCall),
    executionMode: "parallel",
  };
}

function cannotRun(toolCall: OmniMessage<ToolCallPayload>, error: string): CallAssessment {
  return { error, risk: "process", summary: callSummary(toolCall), executionMode: "parallel" };
}

function callSummary(toolCall: OmniMessage<ToolCallPayload>): string {
  return `${toolCall.payload.name} ${toolCall.payload.arguments.slice(0, 2000)}`;
}
