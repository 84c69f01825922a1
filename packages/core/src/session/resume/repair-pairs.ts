import { lostBeginning } from "../../engine/context-log.ts";
import { killedOutput } from "../../engine/next-input.ts";
import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage, ToolCallPayload } from "../../omnimessage/message.ts";

/**
 * Messages that every provider takes, whichever of them are missing: they begin with the user, each call is answered once
 * before anything else is said, and no output stands without its call. What was whole is unchanged.
 */
export function repairPairs(messages: readonly OmniMessage[]): OmniMessage[] {
  const repaired: OmniMessage[] = [];
  let open = new Map<string, OmniMessage<ToolCallPayload>>();
  for (const message of messages) {
    if (isType(message, "tool_call_output")) {
      if (open.delete(message.payload.tool_call_id)) repaired.push(message);
      continue;
    }
    const startsTurn = !isReply(message) || !isReply(repaired.at(-1));
    if (startsTurn) {
      repaired.push(...[...open.values()].map(killedOutput));
      open = new Map();
    }
    if (isReply(message) && repaired.length === 0) repaired.push(lostBeginning());
    repaired.push(message);
    if (isType(message, "tool_call")) open.set(message.payload.tool_call_id, message);
  }
  return [...repaired, ...[...open.values()].map(killedOutput)];
}

function isReply(message: OmniMessage | undefined): boolean {
  return (message?.payload as { role?: string } | undefined)?.role === "assistant";
}
