import { eventMessage } from "../omnimessage/build.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { isRecord } from "../omnimessage/shape.ts";
import { jsonDetails } from "./json-details.ts";
import { deltaPieces } from "./output-delta.ts";
import type { OutputPiece } from "./output-piece.ts";
import { strings } from "./tool-report.ts";

/** What a yielded value means for the call. */
export type ToolYield =
  /** To be passed on as it is: a child session's message, or progress under the id of this call. */
  | { readonly kind: "message"; readonly message: OmniMessage }
  | { readonly kind: "output"; readonly pieces: readonly OutputPiece[]; readonly images: readonly string[] }
  /** The tool built its complete message itself; `result` is what that says beside the text. */
  | { readonly kind: "whole"; readonly pieces: readonly [string]; readonly result: Record<string, unknown> };

/**
 * Reads one value a tool yielded (PC-076). Fragments of any event type and id count for their text and images; whatever
 * has no place in the output of a tool is ignored.
 */
export function readYield(value: unknown, toolCallId: string): ToolYield | undefined {
  if (!isRecord(value) || !isRecord(value.payload)) return undefined;
  if (value.origin !== undefined) return { kind: "message", message: value as unknown as OmniMessage };
  const { payload } = value;
  switch (payload.type) {
    case "partial_tool_call_output":
      return {
        kind: "output",
        pieces: deltaPieces(payload) ?? [text(payload.output)],
        images: strings(payload.images),
      };
    case "tool_call_output":
      return { kind: "whole", pieces: [text(payload.output)], result: resultOf(payload) };
    case "tool_progress":
      return { kind: "message", message: progress(payload, toolCallId) };
    default:
      return undefined;
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function resultOf(payload: Record<string, unknown>): Record<string, unknown> {
  const { stop_reason: stopReason, added_tool_names: addedToolNames, images, details, usage, terminate } = payload;
  return { stopReason, addedToolNames, images, details, usage, terminate };
}

function progress(payload: Record<string, unknown>, toolCallId: string): OmniMessage {
  const details = jsonDetails(payload.details);
  return eventMessage({
    type: "tool_progress",
    tool_call_id: toolCallId,
    ...(typeof payload.text === "string" && { text: payload.text }),
    ...(details !== undefined && { details }),
  });
}
