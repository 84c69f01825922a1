import { modelMessage } from "../omnimessage/build.ts";
import type { OmniMessage, PartialToolCallOutputPayload, ToolCallOutputPayload } from "../omnimessage/message.ts";

/** An output that is known as a whole, as the stream shows it: start, one delta, stop, complete (rule 1). */
export function wholeOutput(output: OmniMessage<ToolCallOutputPayload>): OmniMessage[] {
  const { payload } = output;
  const hasContent = payload.output !== "" || (payload.images?.length ?? 0) > 0;
  return [
    outputFragment(payload, "start"),
    ...(hasContent ? [outputFragment(payload, "delta", payload.output, payload.images)] : []),
    outputFragment(payload, "stop"),
    output,
  ];
}

/** The complete output of a call that the engine answers itself. */
export function engineOutput(
  toolCallId: string,
  output: string,
  stopReason: "failed" | "aborted",
): OmniMessage<ToolCallOutputPayload> {
  return modelMessage({
    type: "tool_call_output",
    role: "user",
    output,
    tool_call_id: toolCallId,
    stop_reason: stopReason,
  });
}

/** One fragment of an output; a delta carries text, images or both. */
export function outputFragment(
  payload: Pick<ToolCallOutputPayload, "tool_call_id" | "stop_reason">,
  event: "start" | "delta" | "stop",
  output = "",
  images?: readonly string[],
): OmniMessage<PartialToolCallOutputPayload> {
  return modelMessage({
    type: "partial_tool_call_output",
    role: "user",
    event_type: event,
    output,
    tool_call_id: payload.tool_call_id,
    ...(images && images.length > 0 && { images }),
    ...(event === "stop" && payload.stop_reason && { stop_reason: payload.stop_reason }),
  });
}
