import { modelMessage } from "../../omnimessage/build.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import type { ToolDefinitionConfig, ToolResult } from "../contract.ts";
import { modelVisiblePath } from "../model-visible-path.ts";
import { problemText } from "./file-problem.ts";

/** What a file tool has to say when it succeeds. */
export interface FileToolReport {
  /** May be empty where there is an image. */
  readonly text: string;
  /** Data URLs. */
  readonly images?: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
  /** Shown after the text, whatever was cut of that. */
  readonly note?: string;
}

/**
 * Runs a file tool's work and gives all its text as one delta (PT-114). Whatever goes wrong is text that begins `cannot
 * VERB PATH: `, with stop reason `failed` (PT-115).
 */
export async function* singleOutput(
  call: { readonly toolCallId: string; readonly verb: string; readonly path: unknown },
  work: () => Promise<FileToolReport>,
): AsyncGenerator<OmniMessage, ToolResult> {
  try {
    const { text, images, details, note } = await work();
    if (text !== "") yield delta(call.toolCallId, text);
    return { stopReason: "completed", details, ...(images && { images }), ...(note !== undefined && { note }) };
  } catch (error) {
    const path = typeof call.path === "string" ? ` ${modelVisiblePath(call.path)}` : "";
    yield delta(call.toolCallId, `cannot ${call.verb}${path.replaceAll("\0", "␀")}: ${problemText(error)}`);
    return { stopReason: "failed" };
  }
}

/** How many characters of output a definition leaves a tool; infinite where there is no limit. */
export function outputRoom({ maxOutputLength = 16_000 }: ToolDefinitionConfig): number {
  return maxOutputLength > 0 ? maxOutputLength : Number.POSITIVE_INFINITY;
}

function delta(toolCallId: string, output: string): OmniMessage {
  return modelMessage({
    type: "partial_tool_call_output",
    role: "user",
    event_type: "delta",
    output,
    tool_call_id: toolCallId,
  });
}
