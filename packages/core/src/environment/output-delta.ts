import { modelMessage } from "../omnimessage/build.ts";
import type { OmniMessage, PartialToolCallOutputPayload } from "../omnimessage/message.ts";
import { type OutputPiece, piecesText } from "./output-piece.ts";

/** Of deltas whose text is not there before somebody asks for it. */
const piecesOfDelta = new WeakMap<object, readonly OutputPiece[]>();

/** What a tool yields: more text of its output (PT-027). */
export function outputDelta(
  toolCallId: string,
  output: string | readonly OutputPiece[],
): OmniMessage<PartialToolCallOutputPayload> {
  const delta = { type: "partial_tool_call_output", role: "user", event_type: "delta" } as const;
  if (typeof output === "string") return modelMessage({ ...delta, output, tool_call_id: toolCallId });
  const payload: PartialToolCallOutputPayload = {
    ...delta,
    get output() {
      return piecesText(output);
    },
    tool_call_id: toolCallId,
  };
  piecesOfDelta.set(payload, output);
  return modelMessage(payload);
}

/** What a delta was made of, where that was not one text. */
export function deltaPieces(payload: object): readonly OutputPiece[] | undefined {
  return piecesOfDelta.get(payload);
}
