import {
  isSessionMeta,
  isType,
  type OmniMessage,
  readGoalInput,
  type SessionMetaPayload,
  type ToolCallOutputPayload,
  type ToolDefinition,
} from "@rookery/core";
import { compactionLine } from "./compaction-line.ts";
import { folded, foldedEnd } from "./fold.ts";
import { goalLine } from "./goal-line.ts";
import { toolHeading } from "./heading.ts";
import { neutralise, oneLine } from "./neutralise.ts";

/**
 * A record as a person reads it: returns a function that gives each message's lines in turn, or nothing.
 *
 * Calls run side by side: a result that does not follow its own heading gets it again. What a later model context
 * carried over from an earlier one is left out, since it was shown there, but for a summary.
 */
export function transcript(columns: number): (message: OmniMessage) => string | undefined {
  const tools = new Map<string, ToolDefinition>();
  const calls = new Map<string, string>();
  let lastCall: string | undefined;
  let lastContext: string | undefined;
  let carried = 0;
  let isCompacting = false;
  return (message) => {
    if (isSessionMeta(message)) {
      carried = message.payload.carried ?? 0;
      const line = contextLine(message.payload);
      const isKnown = line === lastContext;
      lastContext = line;
      return isKnown ? undefined : line;
    }
    if (carried > 0) {
      carried -= 1;
      return isType(message, "text") && message.payload.text.startsWith("[context_summary]")
        ? messageLines(message)
        : undefined;
    }
    if (isType(message, "compaction_begin") || isType(message, "compaction_end")) {
      isCompacting = message.payload.type === "compaction_begin";
      return compactionLine(message);
    }
    // What is said while a summary is made is shown by what the next context begins with.
    if (isCompacting) return undefined;
    if (isType(message, "tool_list_ready")) {
      for (const tool of message.payload.tools) tools.set(tool.name, tool);
    }
    if (isType(message, "tool_call")) {
      const heading = toolHeading(message.payload, tools.get(message.payload.name), columns);
      lastCall = message.payload.tool_call_id;
      calls.set(lastCall, heading);
      return heading;
    }
    if (isType(message, "tool_call_output")) {
      const { tool_call_id: id } = message.payload;
      const heading = lastCall === id ? undefined : calls.get(id);
      calls.delete(id);
      lastCall = undefined;
      const result = resultLines(message.payload, columns);
      return heading === undefined ? result : `${heading}\n${result}`;
    }
    const lines = messageLines(message);
    if (lines !== undefined) lastCall = undefined;
    return lines;
  };
}

function contextLine({ session_id, provider, model_id, workspace }: SessionMetaPayload): string {
  return oneLine(`${session_id} · ${provider}/${model_id} · ${workspace}`);
}

function resultLines({ output, stop_reason: stop = "completed" }: ToolCallOutputPayload, columns: number): string {
  const lines = stop === "completed" ? folded(output, columns - 2) : [stop, ...foldedEnd(output, columns - 2)];
  return lines.map((line) => `  ${line}`).join("\n");
}

function messageLines(message: OmniMessage): string | undefined {
  if (isType(message, "text")) {
    const goal = readGoalInput(message);
    const { role, text } = goal ? { role: "user", text: `${goalLine(message)}\n${goal.body}` } : message.payload;
    const shown = neutralise(text.trimEnd());
    // What the harness tells the model nobody typed.
    if (isType(message, "text") && message.payload.sender === "harness" && !goal) return shown;
    return role === "user" ? `\n> ${shown.replaceAll("\n", "\n> ")}\n` : shown;
  }
  if (isType(message, "abort")) return `[${oneLine(message.payload.reason ?? message.payload.code ?? "aborted")}]`;
  const line = goalLine(message);
  return line && `[${line}]`;
}
