import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage, ToolCallOutputPayload, ToolCallPayload } from "../omnimessage/message.ts";

/** Wraps text that the harness writes for the model: `[tag]`, the text, `[/tag]`, each on lines of its own. */
export function tagged(tag: string, text: string): string {
  return `[${tag}]\n${text}\n[/${tag}]`;
}

/** A call and what came of it; a call without an output was never run. */
export function callText(call: ToolCallPayload, output: ToolCallOutputPayload | undefined): string {
  const made = tagged("tool_call", `${call.name} ${call.arguments}`);
  return `${made}\n${output ? tagged("tool_call_output", output.output) : "(not run)"}`;
}

/** Text or thinking as a piece of a transcript; `undefined` for what has no text worth repeating. */
export function proseText(message: OmniMessage): string | undefined {
  if (isType(message, "text") && message.payload.text !== "") {
    return tagged(message.payload.role === "user" ? "user_input" : "text", message.payload.text);
  }
  if (isType(message, "thinking") && message.payload.thinking !== "")
    return tagged("thinking", message.payload.thinking);
  return undefined;
}
