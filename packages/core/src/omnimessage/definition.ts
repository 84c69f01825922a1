/*
 * OmniMessage, defined once. The TypeScript types (message.ts), the runtime validation (validate.ts) and the published
 * JSON Schema (json-schema.ts) all follow from these tables. How to read them: shape.ts. What the fields mean:
 * docs/protocol.md.
 */

/** Shapes that several payloads share. */
export const names = {
  StopReason: ["completed", "failed", "aborted", "timeout", "malformed", "auth"],
  FinishReason: ["stop", "tool_calls", "length", "content_filter", "other"],
  FragmentEvent: ["start", "delta", "stop"],
  Sender: ["user", "parent_agent", "harness", "server"],
  Permission: ["r", "rw"],
  Risk: ["read_only", "filesystem", "process", "delegate"],
  TokenCounts: { fields: { cache_read: "number", cache_write: "number", output: "number", total: "number" } },
  ToolUsage: {
    fields: {
      input: "number",
      output: "number",
      cacheRead: "number",
      cacheWrite: "number",
      totalTokens: "number",
      cost: {
        fields: {
          input: "number",
          output: "number",
          cacheRead: "number",
          cacheWrite: "number",
          total: "number",
        },
      },
    },
  },
  ToolDefinition: {
    fields: {
      name: "string",
      description: "string",
      parameters: "object",
      "label?": "string",
      "hidden?": "boolean",
      "permission?": "Permission",
    },
  },
  ServerResult: {
    fields: {
      server: "string",
      transport: "string",
      status: ["completed", "failed", "aborted"],
      duration_ms: "number",
      "tools?": { list: "string" },
      "error?": "string",
    },
  },
  CompactionReason: ["context", "turns", "manual", "overflow", "switch"],
  CompactionMode: ["summarize", "discard", "prune", "switch"],
} as const;

/** The payload of `session_meta`: what stays the same for the life of one model context. */
export const sessionMeta = {
  format: [1],
  session_id: "string",
  provider: "string",
  model_id: "string",
  model_context_window: { either: ["number", ["unknown"]] },
  system_prompt: "string",
  agent_state: "string",
  workspace: "string",
  "source?": "string",
  "carried?": "number",
} as const;

/** Complete payloads of `model_msg`: the content of a conversation. */
export const complete = {
  text: {
    role: ["user", "assistant"],
    text: "string",
    "sender?": "Sender",
    "fidelity?": "object",
    "stop_reason?": "StopReason",
  },
  thinking: { role: ["assistant"], thinking: "string", "fidelity?": "object", "stop_reason?": "StopReason" },
  inline_thinking: {
    role: ["assistant"],
    data: "string",
    mime_type: "string",
    "fidelity?": "object",
    "stop_reason?": "StopReason",
  },
  tool_call: {
    role: ["assistant"],
    name: "string",
    arguments: "string",
    tool_call_id: "string",
    "fidelity?": "object",
    "stop_reason?": "StopReason",
  },
  tool_call_output: {
    role: ["user"],
    output: "string",
    tool_call_id: "string",
    "images?": { list: "string" },
    "stop_reason?": "StopReason",
    "fidelity?": "object",
    "details?": "unknown",
    "usage?": "ToolUsage",
    "terminate?": "boolean",
    "added_tool_names?": { list: "string" },
  },
  image_url: { role: ["user"], image_url: "string", "fidelity?": "object", "stop_reason?": "StopReason" },
  inline_data: {
    role: ["user", "assistant"],
    data: "string",
    mime_type: "string",
    "fidelity?": "object",
    "stop_reason?": "StopReason",
  },
} as const;

/** Partial payloads of `model_msg`: fragments of a segment while it streams; never recorded. */
export const partial = {
  partial_text: { role: ["assistant"], event_type: "FragmentEvent", text: "string", "stop_reason?": "StopReason" },
  partial_thinking: {
    role: ["assistant"],
    event_type: "FragmentEvent",
    thinking: "string",
    "stop_reason?": "StopReason",
  },
  partial_tool_call: {
    role: ["assistant"],
    event_type: "FragmentEvent",
    name: "string",
    arguments: "string",
    tool_call_id: "string",
    "stop_reason?": "StopReason",
  },
  partial_tool_call_output: {
    role: ["user"],
    event_type: "FragmentEvent",
    output: "string",
    tool_call_id: "string",
    "images?": { list: "string" },
    "stop_reason?": "StopReason",
  },
} as const;

/** Payloads of `event_msg`: what happens around the conversation. */
export const event = {
  tool_list_ready: { tools: { list: "ToolDefinition" } },
  mcp_connect_begin: { servers: { list: "string" } },
  mcp_connect_end: { status: ["completed", "failed", "aborted"], results: { list: "ServerResult" } },
  request_begin: {},
  request_end: {
    status: "StopReason",
    "finish_reason?": "FinishReason",
    "error_message?": "string",
    "attempt?": "number",
    "retry_in_ms?": "number",
  },
  approval_request: {
    tool_call_id: "string",
    summary: "string",
    risk: "Risk",
    permission: "Permission",
    workspace: "string",
  },
  approval_decision: {
    tool_call_id: "string",
    decision: ["allow", "deny", "forbidden"],
    "decided_by?": ["user", "mode", "rule", "policy", "hook", "default"],
    "reason?": "string",
    "arguments?": "string",
  },
  tool_progress: { tool_call_id: "string", "text?": "string", "details?": "unknown" },
  token_usage: {
    request: "TokenCounts",
    session: "TokenCounts",
    "cost_usd?": "number",
    "source?": ["tool", "child"],
  },
  compaction_begin: {
    reason: "CompactionReason",
    mode: "CompactionMode",
    context: "number",
    turns: "number",
    // Ours: whose summary it is, where that is not the session's own model.
    "model?": "string",
  },
  compaction_end: {
    reason: "CompactionReason",
    mode: "CompactionMode",
    status: "StopReason",
    "attempt?": "number",
    "error_message?": "string",
  },
  abort: { "reason?": "string", "code?": "string" },
  subagent: { session_id: "string" },
  // Ours: a task that was undone, with the files that were put back or taken away.
  undo: {
    task: "number",
    files: { list: { fields: { path: "string", action: ["restored", "deleted"], "sha256?": "string" } } },
  },
  goal_finished: {
    outcome: ["complete", "blocked", "budget_limited", "aborted"],
    rounds: "number",
    tokens_used: "number",
  },
} as const;
