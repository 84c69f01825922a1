import { expect } from "vitest";
import type { GenerativeModelParameters, LLMInterface, LLMOutcome } from "../../src/llm/contract.ts";
import { isCompleteModelMessage, isPartialPayload, isType } from "../../src/omnimessage/guards.ts";
import type { CompletePayload, EventPayload, OmniMessage, PartialPayload } from "../../src/omnimessage/message.ts";

export interface CollectedReply {
  readonly outcome: LLMOutcome;
  readonly messages: readonly OmniMessage[];
  readonly complete: readonly CompletePayload[];
  readonly usage: EventPayload<"token_usage"> | undefined;
}

/**
 * Runs one request to its end and checks what every model stream must keep: closed segments, each with its complete
 * message next and joined deltas that equal it, no empty delta, and `token_usage` last if and only if it completed.
 */
export async function collectReply(
  model: LLMInterface,
  parameters: GenerativeModelParameters,
  onMessage: (message: OmniMessage) => void | Promise<void> = () => undefined,
): Promise<CollectedReply> {
  const messages: OmniMessage[] = [];
  const stream = model.streamGenerate(parameters);
  for (;;) {
    const step = await stream.next();
    if (step.done) {
      checkSegments(messages);
      const usages = messages.filter((message) => isType(message, "token_usage"));
      expect(usages.length).toBe(step.value.status === "completed" ? 1 : 0);
      const last = messages.at(-1);
      const usage = usages.length > 0 && last && isType(last, "token_usage") ? last.payload : undefined;
      expect(usage === undefined).toBe(usages.length === 0);
      const complete = messages.filter(isCompleteModelMessage).map(({ payload }) => payload);
      return { outcome: step.value, messages, complete, usage };
    }
    messages.push(step.value);
    await onMessage(step.value);
  }
}

/** Rule 1 of the protocol. */
export function checkSegments(messages: readonly OmniMessage[]): void {
  const open = new Map<string, string>();
  let due: CompletePayload | undefined;
  for (const { payload } of messages) {
    if (due) {
      expect(payload).toMatchObject(due);
      due = undefined;
      continue;
    }
    if (!isPartialPayload(payload)) continue;
    const key = keyOf(payload);
    const content = contentOf(payload);
    if (payload.event_type === "start") {
      expect(open.has(key)).toBe(false);
      if (key === "text" || key === "thinking") expect(open.has(key === "text" ? "thinking" : "text")).toBe(false);
      open.set(key, content);
    } else if (payload.event_type === "delta") {
      expect(content).not.toBe("");
      expect(open.has(key)).toBe(true);
      open.set(key, open.get(key) + content);
    } else {
      due = completeOf(payload, open.get(key) ?? "");
      expect(open.delete(key)).toBe(true);
    }
  }
  expect(due).toBeUndefined();
  expect([...open.keys()]).toEqual([]);
}

function keyOf(payload: PartialPayload): string {
  if (payload.type === "partial_text") return "text";
  return payload.type === "partial_thinking" ? "thinking" : payload.tool_call_id;
}

function contentOf(payload: PartialPayload): string {
  if (payload.type === "partial_text") return payload.text;
  if (payload.type === "partial_thinking") return payload.thinking;
  return payload.type === "partial_tool_call" ? payload.arguments : payload.output;
}

function completeOf(stop: PartialPayload, content: string): CompletePayload {
  const rest = { role: "assistant" as const, ...(stop.stop_reason && { stop_reason: stop.stop_reason }) };
  if (stop.type === "partial_text") return { type: "text", text: content, ...rest };
  if (stop.type === "partial_thinking") return { type: "thinking", thinking: content, ...rest };
  if (stop.type !== "partial_tool_call") throw new TypeError("a model streams no tool output");
  return { type: "tool_call", arguments: content, tool_call_id: stop.tool_call_id, ...rest } as CompletePayload;
}
