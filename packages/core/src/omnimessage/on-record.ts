import type { OmniMessage, OmniPayload } from "./message.ts";

type TypeName = Exclude<OmniPayload["type"], undefined>;

/** Where a message of each type belongs (rule 7). A new type fails to compile until someone decides. */
const place = {
  text: "both",
  thinking: "both",
  inline_thinking: "both",
  tool_call: "both",
  tool_call_output: "both",
  image_url: "both",
  inline_data: "both",
  partial_text: "stream",
  partial_thinking: "stream",
  partial_tool_call: "stream",
  partial_tool_call_output: "stream",
  tool_list_ready: "both",
  mcp_connect_begin: "both",
  mcp_connect_end: "both",
  request_begin: "both",
  request_end: "both",
  approval_request: "stream",
  approval_decision: "both",
  tool_progress: "stream",
  token_usage: "both",
  compaction_begin: "both",
  compaction_end: "both",
  abort: "both",
  subagent: "trace",
  undo: "trace",
  goal_finished: "both",
} as const satisfies Record<TypeName, "both" | "stream" | "trace">;

/** True for a message that a trace records: complete, of this session, and not only meant for who is watching. */
export function isOnRecord(message: OmniMessage): boolean {
  if (message.origin !== undefined) return false;
  if (message.type === "session_meta") return true;
  const type = message.payload.type;
  return type === undefined || !Object.hasOwn(place, type) || place[type] !== "stream";
}
