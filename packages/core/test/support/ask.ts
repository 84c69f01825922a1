import type { GenerativeModel } from "../../src/llm/generative-model.ts";
import { modelMessage, userText } from "../../src/omnimessage/build.ts";
import type { CompletePayload, OmniMessage, ToolCallOutputPayload } from "../../src/omnimessage/message.ts";
import { type CollectedReply, collectReply } from "./collect-reply.ts";

/** One request; without messages it says "go". */
export function ask(llm: GenerativeModel, ...newMessages: OmniMessage[]): Promise<CollectedReply> {
  return collectReply(llm, { newMessages: newMessages.length > 0 ? newMessages : [userText("go")] });
}

/** One output for each call of a reply. */
export function answers(reply: CollectedReply, fields: Partial<ToolCallOutputPayload> = {}): OmniMessage[] {
  return callsOf(reply).map((call) => output(call.tool_call_id, { output: `output of ${call.name}`, ...fields }));
}

export function output(id: string, fields: Partial<ToolCallOutputPayload> = {}): OmniMessage {
  return modelMessage({ type: "tool_call_output", role: "user", output: "", tool_call_id: id, ...fields });
}

export function callsOf({ complete }: CollectedReply): Extract<CompletePayload, { type: "tool_call" }>[] {
  return complete.filter((payload) => payload.type === "tool_call");
}

export function textOf({ complete }: CollectedReply): string {
  return complete.flatMap((payload) => (payload.type === "text" ? [payload.text] : [])).join("");
}

export function thinkingOf({ complete }: CollectedReply): string[] {
  return complete.flatMap((payload) => (payload.type === "thinking" ? [payload.thinking] : []));
}
