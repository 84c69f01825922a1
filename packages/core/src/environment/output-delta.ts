import { modelMessage } from "../omnimessage/build.ts";
import type { OmniMessage, PartialToolCallOutputPayload } from "../omnimessage/message.ts";

/** What a tool yields: more text of its output (PT-027). */
export function outputDelta(toolCallId: string, output: string): OmniMessage<PartialToolCallOutputPayload> {
  return modelMessage({
    type: "partial_tool_call_output",
    role: "user",
    event_type: "delta",
    output,
    tool_call_id: toolCallId,
  });
}
