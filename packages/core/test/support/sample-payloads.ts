import { event } from "../../src/omnimessage/definition.ts";
import type { OmniMessage, OmniPayload } from "../../src/omnimessage/message.ts";

type Typed = Exclude<OmniPayload, { readonly type?: never }>;

const tokens = { cache_read: 1, cache_write: 2, output: 3, total: 6 };
const output = { role: "user", output: "a.txt\n", tool_call_id: "call_1" } as const;

/** One payload of every type, with its optional fields. */
export const samplePayloads: { readonly [T in Typed["type"]]: Extract<Typed, { readonly type: T }> } = {
  text: { type: "text", role: "user", text: "hello", sender: "parent_agent", stop_reason: "completed" },
  thinking: { type: "thinking", role: "assistant", thinking: "hm", fidelity: { signature: "abc" } },
  inline_thinking: { type: "inline_thinking", role: "assistant", data: "AA==", mime_type: "image/png" },
  tool_call: { type: "tool_call", role: "assistant", name: "list", arguments: "{}", tool_call_id: "call_1" },
  tool_call_output: {
    ...output,
    type: "tool_call_output",
    images: ["data:image/png;base64,AA=="],
    details: null,
    usage: {
      input: 1,
      output: 1,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 2,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 },
    },
    terminate: true,
    added_tool_names: ["grep"],
  },
  image_url: { type: "image_url", role: "user", image_url: "https://example.com/a.png" },
  inline_data: { type: "inline_data", role: "user", data: "AA==", mime_type: "application/pdf" },
  partial_text: { type: "partial_text", role: "assistant", event_type: "delta", text: "hel" },
  partial_thinking: { type: "partial_thinking", role: "assistant", event_type: "start", thinking: "" },
  partial_tool_call: {
    type: "partial_tool_call",
    role: "assistant",
    event_type: "start",
    name: "list",
    arguments: "",
    tool_call_id: "call_1",
  },
  partial_tool_call_output: { ...output, type: "partial_tool_call_output", event_type: "stop", stop_reason: "timeout" },
  tool_list_ready: {
    type: "tool_list_ready",
    tools: [
      { name: "list", description: "Lists files", parameters: { type: "object" }, permission: "r", hidden: true },
    ],
  },
  mcp_connect_begin: { type: "mcp_connect_begin", servers: ["docs"] },
  mcp_connect_end: {
    type: "mcp_connect_end",
    status: "failed",
    results: [{ server: "docs", transport: "stdio", status: "failed", duration_ms: 12, error: "no such program" }],
  },
  request_begin: { type: "request_begin" },
  request_end: { type: "request_end", status: "timeout", error_message: "no answer", attempt: 1, retry_in_ms: 2000 },
  approval_request: {
    type: "approval_request",
    tool_call_id: "call_1",
    summary: "rm -r build",
    risk: "process",
    permission: "rw",
    workspace: "/home/me/app",
  },
  approval_decision: { type: "approval_decision", tool_call_id: "call_1", decision: "deny", decided_by: "user" },
  tool_progress: { type: "tool_progress", tool_call_id: "call_1", text: "42 %", details: { done: 42 } },
  token_usage: { type: "token_usage", request: tokens, session: tokens, cost_usd: 0.01, source: "tool" },
  compaction_begin: { type: "compaction_begin", reason: "context", mode: "summarize", context: 90_000, turns: 12 },
  compaction_end: { type: "compaction_end", reason: "context", mode: "summarize", status: "completed" },
  abort: { type: "abort", reason: "the turn limit was reached", code: "max-turns" },
  subagent: { type: "subagent", session_id: "session-2026-01-02-03-04-05-0123abcd" },
  undo: { type: "undo", task: 1, files: [{ path: "/w/a", action: "restored", sha256: "0" }] },
  goal_finished: { type: "goal_finished", outcome: "complete", rounds: 2, tokens_used: 1000 },
};

/** The same as messages. */
export const sampleMessages: readonly OmniMessage[] = Object.values(samplePayloads).map((payload) => ({
  timestamp: "2026-01-02T03:04:05.678Z",
  type: Object.hasOwn(event, payload.type) ? "event_msg" : "model_msg",
  payload,
}));
