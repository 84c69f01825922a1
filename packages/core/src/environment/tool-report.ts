import { names } from "../omnimessage/definition.ts";
import type { StopReason, ToolCallOutputPayload, ToolUsage } from "../omnimessage/message.ts";
import { isRecord, shapeProblems } from "../omnimessage/shape.ts";
import type { ToolResult } from "./contract.ts";
import { jsonDetails } from "./json-details.ts";

/** What a tool said about itself, in order. */
export interface ToolReport {
  readonly stopReason: StopReason;
  /** Empty when there is none. */
  readonly note: string;
  readonly images: readonly string[];
  /** As they stand on the complete message. */
  readonly extras: Pick<ToolCallOutputPayload, "details" | "usage" | "terminate" | "added_tool_names">;
}

/** Reads what a tool returned, whatever it is: fields of a wrong type count as absent, an unknown stop reason as `failed`. */
export function readReport(result: unknown): ToolReport {
  const said: { readonly [K in keyof ToolResult]?: unknown } = isRecord(result) ? result : {};
  const details = jsonDetails(said.details);
  const addedToolNames = strings(said.addedToolNames);
  return {
    stopReason:
      said.stopReason === undefined ? "completed" : isStopReason(said.stopReason) ? said.stopReason : "failed",
    note: typeof said.note === "string" ? said.note : "",
    images: strings(said.images),
    extras: {
      ...(details !== undefined && { details }),
      ...(isToolUsage(said.usage) && { usage: said.usage }),
      ...(said.terminate === true && { terminate: true }),
      ...(addedToolNames.length > 0 && { added_tool_names: addedToolNames }),
    },
  };
}

/** The strings of a list; empty for anything else. */
export function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function isStopReason(value: unknown): value is StopReason {
  return shapeProblems("StopReason", value, { names }).length === 0;
}

function isToolUsage(value: unknown): value is ToolUsage {
  return shapeProblems("ToolUsage", value, { names }).length === 0;
}
