import type { GenerativeModelConfig } from "../../src/llm/contract.ts";
import { GenerativeModel } from "../../src/llm/generative-model.ts";
import { modelMessage, userText } from "../../src/omnimessage/build.ts";
import type { CompletePayload, OmniMessage, ToolCallOutputPayload } from "../../src/omnimessage/message.ts";
import { type CollectedReply, collectReply } from "./collect-reply.ts";

/** An event, or a text that stands for one. */
export type Sent = object | string | null;

/** A model that speaks the Responses protocol to this server. */
export function responsesModel(server: { url: string }, config: Partial<GenerativeModelConfig> = {}): GenerativeModel {
  return new GenerativeModel({
    modelId: "gpt-5.1",
    clientType: "openai-responses",
    apiKey: "sk-canary-1111",
    baseUrl: `${server.url}/v1`,
    tools: [],
    ...config,
  });
}

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

export function sse(...events: Sent[]): string {
  return events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");
}

/** A whole reply of these events. */
export function reply(...events: Sent[]): string {
  return sse({ type: "response.created", response: { id: "resp_1" } }, ...events, completed());
}

export function completed(response: object = {}): object {
  return { type: "response.completed", response: { status: "completed", ...response } };
}

export function incomplete(reason: string | null): object {
  return { type: "response.incomplete", response: { incomplete_details: reason === null ? null : { reason } } };
}

export function added(item: object, output_index?: number): object {
  return { type: "response.output_item.added", output_index, item };
}

export function done(item: object, output_index?: number): object {
  return { type: "response.output_item.done", output_index, item };
}

/** The events of a message of the model. */
export function message(text: string, id = "msg_1", output_index = 0, fields: object = {}): object[] {
  const item = { type: "message", id, role: "assistant", ...fields };
  return [
    added({ ...item, content: [] }, output_index),
    textDelta(text, id, output_index),
    done({ ...item, content: [{ type: "output_text", text }] }, output_index),
  ];
}

export function textDelta(delta: string, item_id?: string, output_index?: number): object {
  return { type: "response.output_text.delta", item_id, output_index, delta };
}

export function thinkingDelta(delta: string, item_id?: string, output_index?: number, summary_index = 0): object {
  return { type: "response.reasoning_summary_text.delta", item_id, output_index, summary_index, delta };
}

export function argumentsDelta(delta: string, item_id?: string, output_index?: number): object {
  return { type: "response.function_call_arguments.delta", item_id, output_index, delta };
}

export function functionCall(call_id: string | null, args: unknown = "{}", fields: object = {}): object {
  return {
    type: "function_call",
    id: `fc_${call_id}`,
    call_id,
    name: "read_file",
    arguments: args,
    status: "completed",
    ...fields,
  };
}
