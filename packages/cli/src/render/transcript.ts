import { isSessionMeta, isType, type OmniMessage, type SessionMetaPayload, type ToolDefinition } from "@rookery/core";
import { folded } from "./fold.ts";
import { toolHeading } from "./heading.ts";
import { neutralise, oneLine } from "./neutralise.ts";

/**
 * A record as a person reads it: returns a function that gives each message's lines in turn, or nothing.
 *
 * What a later model context carried over from an earlier one is left out, since it was shown there.
 */
export function transcript(columns: number): (message: OmniMessage) => string | undefined {
  const tools = new Map<string, ToolDefinition>();
  let carried = 0;
  return (message) => {
    if (isSessionMeta(message)) {
      carried = message.payload.carried ?? 0;
      return contextLine(message.payload);
    }
    if (carried > 0) {
      carried -= 1;
      return undefined;
    }
    if (isType(message, "tool_list_ready")) {
      for (const tool of message.payload.tools) tools.set(tool.name, tool);
    }
    if (isType(message, "tool_call")) return toolHeading(message.payload, tools.get(message.payload.name), columns);
    return messageLines(message, columns);
  };
}

function contextLine({ session_id, provider, model_id, workspace }: SessionMetaPayload): string {
  return oneLine(`${session_id} · ${provider}/${model_id} · ${workspace}`);
}

function messageLines(message: OmniMessage, columns: number): string | undefined {
  if (isType(message, "text")) {
    const { role, text } = message.payload;
    const shown = neutralise(text.trimEnd());
    return role === "user" ? `\n> ${shown.replaceAll("\n", "\n> ")}\n` : shown;
  }
  if (isType(message, "tool_call_output")) {
    const { output, stop_reason: stop = "completed" } = message.payload;
    const lines = folded(output, columns - 2);
    return (stop === "completed" ? lines : [stop, ...lines]).map((line) => `  ${line}`).join("\n");
  }
  if (isType(message, "abort")) return `[${oneLine(message.payload.code ?? message.payload.reason ?? "aborted")}]`;
  return undefined;
}
