import { eventMessage, modelMessage } from "../../src/omnimessage/build.ts";
import type { EventPayload, OmniMessage, StopReason, ToolCallOutputPayload } from "../../src/omnimessage/message.ts";

const counts = { cache_read: 0, cache_write: 5, output: 2, total: 7 };

export const begin: OmniMessage = eventMessage({ type: "request_begin" });
export const usage: OmniMessage = eventMessage({ type: "token_usage", request: counts, session: counts });
export const abort: OmniMessage = eventMessage({ type: "abort" });

export function end(status: StopReason = "completed"): OmniMessage {
  return eventMessage({ type: "request_end", status });
}

/** A reply's text with its fragments. */
export function text(pieces: readonly string[], stop_reason: StopReason = "completed"): OmniMessage[] {
  const role = "assistant";
  return [
    modelMessage({ type: "partial_text", role, event_type: "start", text: "" }),
    ...pieces.map((piece) => modelMessage({ type: "partial_text", role, event_type: "delta", text: piece })),
    modelMessage({ type: "partial_text", role, event_type: "stop", text: "", stop_reason }),
    modelMessage({ type: "text", role, text: pieces.join(""), stop_reason }),
  ];
}

/** A tool call with its fragments. */
export function call(tool_call_id: string, stop_reason: StopReason = "completed"): OmniMessage[] {
  const fragment = { type: "partial_tool_call", role: "assistant", tool_call_id } as const;
  const args = '{"file_path":"a"}';
  return [
    modelMessage({ ...fragment, event_type: "start", name: "read_file", arguments: "" }),
    modelMessage({ ...fragment, event_type: "delta", name: "", arguments: args.slice(0, 5) }),
    modelMessage({ ...fragment, event_type: "delta", name: "", arguments: args.slice(5) }),
    modelMessage({ ...fragment, event_type: "stop", name: "", arguments: "", stop_reason }),
    modelMessage({ ...fragment, type: "tool_call", name: "read_file", arguments: args, stop_reason }),
  ];
}

export function decision(
  tool_call_id: string,
  decided: EventPayload<"approval_decision">["decision"] = "allow",
): OmniMessage {
  return eventMessage({ type: "approval_decision", tool_call_id, decision: decided });
}

/** A tool's output with its fragments. */
export function output(tool_call_id: string, text = "fine", more: Partial<ToolCallOutputPayload> = {}): OmniMessage[] {
  const fragment = { type: "partial_tool_call_output", role: "user", tool_call_id } as const;
  const stop_reason = more.stop_reason ?? "completed";
  return [
    modelMessage({ ...fragment, event_type: "start", output: "" }),
    modelMessage({ ...fragment, event_type: "delta", output: text }),
    modelMessage({ ...fragment, event_type: "stop", output: "", stop_reason }),
    modelMessage({ ...fragment, type: "tool_call_output", output: text, stop_reason, ...more }),
  ];
}

/** One task of two requests with two calls, whose outputs arrive at different moments. */
export const sampleStream: readonly OmniMessage[] = [
  begin,
  ...text(["I ", "look"]),
  ...call("c1"),
  decision("c1"),
  ...call("c2"),
  decision("c2"),
  ...output("c2"),
  usage,
  end(),
  ...output("c1"),
  begin,
  ...text(["done"]),
  usage,
  end(),
];
