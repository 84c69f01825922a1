import { estimateMessageTokens } from "../../omnimessage/estimate-tokens.ts";
import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";

/**
 * The latest messages of a conversation that are not more than so many tokens. They begin with what a user says or with a
 * whole reply, so that no output is parted from its call.
 */
export function recentMessages(messages: readonly OmniMessage[], maxTokens: number): OmniMessage[] {
  let tokens = 0;
  let start = messages.length;
  for (let at = messages.length - 1; at >= 0; at--) {
    tokens += estimateMessageTokens(messages.slice(at, at + 1));
    if (tokens > maxTokens) break;
    if (isBeginning(messages, at)) start = at;
  }
  return messages.slice(start);
}

function isBeginning(messages: readonly OmniMessage[], at: number): boolean {
  const [before, message] = [messages[at - 1], messages[at]];
  if (!message || isType(message, "tool_call_output")) return false;
  const role = roleOf(message);
  if (role === "assistant") return roleOf(before) !== "assistant";
  // Behind outputs it belongs to the turn that they answer.
  return before === undefined || roleOf(before) === "assistant";
}

function roleOf(message: OmniMessage | undefined): string | undefined {
  return (message?.payload as { role?: string } | undefined)?.role;
}
