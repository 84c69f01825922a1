import { errorText } from "../errors/error-text.ts";
import { eventMessage } from "../omnimessage/build.ts";
import type { OmniMessage, StopReason } from "../omnimessage/message.ts";
import { isRecord } from "../omnimessage/shape.ts";
import type { AgentTool, AgentToolResult, ImageContent } from "./agent-tool.ts";
import type { ToolResult } from "./contract.ts";
import { jsonDetails } from "./json-details.ts";
import { outputDelta } from "./output-delta.ts";
import type { BuiltinTool, CallTraits, ToolExecutionContext } from "./tool.ts";

/** True for a tool of the streaming kind. */
export function isBuiltinTool(tool: BuiltinTool | AgentTool): tool is BuiltinTool {
  return "definition" in tool;
}

/** Makes a BuiltinTool of an AgentTool; updates become `tool_progress`, in order and before the output. */
export function toBuiltinTool(tool: AgentTool): BuiltinTool {
  const { name, description, label, hidden, timeoutMs, maxOutputLength, truncation } = tool;
  return {
    ...traitsOf(tool),
    name,
    definition: {
      name,
      description,
      parameters: { ...tool.parameters },
      label,
      ...(hidden !== undefined && { hidden }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(maxOutputLength !== undefined && { maxOutputLength }),
      ...(truncation !== undefined && { truncation }),
    },
    execute: (args, context) => execute(tool, args, context),
  };
}

/** Bound to the tool, which may be an object of a class. */
function traitsOf(tool: AgentTool): CallTraits {
  const { risk, executionMode } = tool;
  return {
    ...(risk !== undefined && { risk }),
    ...(executionMode !== undefined && { executionMode }),
    ...(tool.assessRisk && { assessRisk: tool.assessRisk.bind(tool) }),
    ...(tool.approvalSummary && { approvalSummary: tool.approvalSummary.bind(tool) }),
    ...(tool.commandText && { commandText: tool.commandText.bind(tool) }),
    ...(tool.paths && { paths: tool.paths.bind(tool) }),
    ...(tool.prepareArguments && { prepareArguments: tool.prepareArguments.bind(tool) }),
  };
}

async function* execute(
  tool: AgentTool,
  args: Record<string, unknown>,
  context: ToolExecutionContext,
): AsyncGenerator<OmniMessage, ToolResult> {
  const { toolCallId, signal } = context;
  const updates: OmniMessage[] = [];
  let outcome: Outcome | undefined;
  let wake = (): void => {};
  const onUpdate = (partial: AgentToolResult): void => {
    if (outcome !== undefined || !isRecord(partial)) return;
    updates.push(progress(partial, toolCallId));
    wake();
  };
  void settle(tool, args, context, onUpdate).then((settled) => {
    outcome = settled;
    wake();
  });
  while (outcome === undefined || updates.length > 0) {
    yield* updates.splice(0);
    if (outcome === undefined && updates.length === 0) await new Promise<void>((resolve) => (wake = resolve));
  }

  if ("error" in outcome) {
    if (signal?.aborted) return { stopReason: stopReasonOf(signal) };
    yield outputDelta(toolCallId, errorText(outcome.error));
    return { stopReason: isTimeout(outcome.error) ? "timeout" : "failed" };
  }
  const text = textOf(outcome.result);
  if (text !== "") yield outputDelta(toolCallId, text);
  const { isError, details, usage, terminate, addedToolNames } = outcome.result;
  return {
    stopReason: isError ? "failed" : "completed",
    images: blocksOf(outcome.result).flatMap((block) => (block.type === "image" ? [dataUrl(block)] : [])),
    ...(details !== undefined && { details }),
    ...(usage !== undefined && { usage }),
    ...(terminate !== undefined && { terminate }),
    ...(addedToolNames !== undefined && { addedToolNames }),
  };
}

type Outcome = { readonly result: AgentToolResult } | { readonly error: unknown };

async function settle(
  tool: AgentTool,
  args: Record<string, unknown>,
  { toolCallId, signal, toolContext }: ToolExecutionContext,
  onUpdate: (partial: AgentToolResult) => void,
): Promise<Outcome> {
  try {
    return { result: (await tool.execute(toolCallId, args, signal, onUpdate, toolContext)) ?? { content: [] } };
  } catch (error) {
    return { error };
  }
}

function progress(partial: AgentToolResult, toolCallId: string): OmniMessage {
  const text = textOf(partial);
  // A copy now: the tool may go on changing its object.
  const details = jsonDetails(partial.details);
  return eventMessage({
    type: "tool_progress",
    tool_call_id: toolCallId,
    ...(text !== "" && { text }),
    ...(details !== undefined && { details }),
  });
}

function stopReasonOf(signal: AbortSignal): StopReason {
  return isTimeout(signal.reason) ? "timeout" : "aborted";
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === "TimeoutError";
}

function textOf(result: AgentToolResult): string {
  return blocksOf(result)
    .flatMap((block) => (block.type === "text" && typeof block.text === "string" ? [block.text] : []))
    .join("\n");
}

/** Tools written without types also leave `content` out, or put something else into it. */
function blocksOf({ content }: AgentToolResult): AgentToolResult["content"] {
  return Array.isArray(content) ? content.filter((block) => typeof block === "object" && block !== null) : [];
}

function dataUrl({ mimeType, data }: ImageContent): string {
  return `data:${mimeType};base64,${data}`;
}
