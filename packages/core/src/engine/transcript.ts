import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage, ToolCallOutputPayload, ToolCallPayload } from "../omnimessage/message.ts";

/** Wraps text that the harness writes for the model: `[tag]`, the text, `[/tag]`, each on lines of its own. */
export function tagged(tag: string, text: string): string {
  return `[${tag}]\n${text}\n[/${tag}]`;
}

/** A call as a line of a transcript. */
export function callText(call: ToolCallPayload): string {
  return tagged("tool_call", `${call.name} ${call.arguments}`);
}

export function outputText(output: ToolCallOutputPayload): string {
  return tagged("tool_call_output", output.output);
}

/** A complete message as a piece of a transcript; `undefined` for what has no text worth repeating. */
export function messageText(message: OmniMessage): string | undefined {
  if (isType(message, "text")) {
    if (message.payload.text === "") return undefined;
    return tagged(message.payload.role === "user" ? "user_input" : "text", message.payload.text);
  }
  if (isType(message, "thinking")) {
    return message.payload.thinking === "" ? undefined : tagged("thinking", message.payload.thinking);
  }
  if (isType(message, "tool_call")) return callText(message.payload);
  if (isType(message, "tool_call_output")) return outputText(message.payload);
  return undefined;
}
