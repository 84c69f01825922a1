import { killedOutput } from "../../engine/next-input.ts";
import { userText } from "../../omnimessage/build.ts";
import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage, ToolCallPayload } from "../../omnimessage/message.ts";

/**
 * A history that every provider takes, whichever of its records are missing: it begins with the user, each call is
 * answered once before anything else is said, and no output stands without its call. One that was whole is unchanged.
 *
 * @param isEnded - The calls of the last reply must be answered as well; default: they are still to be.
 */
export function repairPairs(history: readonly OmniMessage[], isEnded = false): OmniMessage[] {
  const repaired: OmniMessage[] = [];
  let open = new Map<string, OmniMessage<ToolCallPayload>>();
  for (const message of history) {
    if (isType(message, "tool_call_output")) {
      if (open.delete(message.payload.tool_call_id)) repaired.push(message);
      continue;
    }
    const startsTurn = !isReply(message) || !isReply(repaired.at(-1));
    if (startsTurn) {
      repaired.push(...[...open.values()].map(killedOutput));
      open = new Map();
    }
    if (isReply(message) && repaired.length === 0) repaired.push(userText(LOST_BEGINNING, "harness"));
    repaired.push(message);
    if (isType(message, "tool_call")) open.set(message.payload.tool_call_id, message);
  }
  return isEnded ? [...repaired, ...[...open.values()].map(killedOutput)] : repaired;
}

const LOST_BEGINNING = "[the record of how this conversation began is damaged]";

function isReply(message: OmniMessage | undefined): boolean {
  return (message?.payload as { role?: string } | undefined)?.role === "assistant";
}
