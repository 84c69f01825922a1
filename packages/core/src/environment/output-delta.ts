import { modelMessage } from "../omnimessage/build.ts";
import type { OmniMessage, PartialToolCallOutputPayload } from "../omnimessage/message.ts";
import { type OutputPiece, pieceText } from "./output-piece.ts";

/** Of deltas whose text is not there before somebody asks for it. */
const bytesOfDelta = new WeakMap<object, Buffer>();

/** What a tool yields: more text of its output (PT-027). */
export function outputDelta(toolCallId: string, output: OutputPiece): OmniMessage<PartialToolCallOutputPayload> {
  const delta = { type: "partial_tool_call_output", role: "user", event_type: "delta" } as const;
  if (typeof output === "string") return modelMessage({ ...delta, output, tool_call_id: toolCallId });
  const payload: PartialToolCallOutputPayload = {
    ...delta,
    get output() {
      return pieceText(output);
    },
    tool_call_id: toolCallId,
  };
  bytesOfDelta.set(payload, output);
  return modelMessage(payload);
}

/** What a delta was made of, when that were bytes. */
export function deltaBytes(payload: object): Buffer | undefined {
  return bytesOfDelta.get(payload);
}
