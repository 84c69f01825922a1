import type { GenerativeModelConfig } from "../../src/llm/contract.ts";
import { GenerativeModel } from "../../src/llm/generative-model.ts";
import { modelMessage, userText } from "../../src/omnimessage/build.ts";
import type { CompletePayload, OmniMessage, ToolCallOutputPayload } from "../../src/omnimessage/message.ts";
import { type CollectedReply, collectReply } from "./collect-reply.ts";

/** A model that speaks Anthropic Messages to a server. */
export function model(server: { url: string }, config: Partial<GenerativeModelConfig> = {}): GenerativeModel {
  return new GenerativeModel({
    modelId: "claude-sonnet-4-5",
    apiKey: "sk-ant-canary-1111",
    baseUrl: server.url,
    clientType: "anthropic-messages",
    tools: [],
    ...config,
  });
}

export function ask(llm: GenerativeModel, ...newMessages: OmniMessage[]): Promise<CollectedReply> {
  return collectReply(llm, { newMessages: newMessages.length > 0 ? newMessages : [userText("go")] });
}

/** One output for each call of a reply. */
export function answers(reply: CollectedReply, fields: Partial<ToolCallOutputPayload> = {}): OmniMessage[] {
  return callsOf(reply).map((call) => output(call.tool_call_id, `output of ${call.name}`, fields));
}

export function output(tool_call_id: string, text: string, fields: Partial<ToolCallOutputPayload> = {}): OmniMessage {
  return modelMessage({ type: "tool_call_output", role: "user", output: text, tool_call_id, ...fields });
}

export function callsOf({ complete }: CollectedReply): Extract<CompletePayload, { type: "tool_call" }>[] {
  return complete.filter((payload) => payload.type === "tool_call");
}

export function textOf({ complete }: CollectedReply): string {
  return complete.flatMap((payload) => (payload.type === "text" ? [payload.text] : [])).join("");
}

/** A content block as its start holds it, and its pieces. */
type WireBlock = readonly [content: object, ...deltas: object[]];

export function block(content: object, ...deltas: object[]): WireBlock {
  return [content, ...deltas];
}

export function text(...pieces: string[]): WireBlock {
  return [{ type: "text", text: "" }, ...pieces.map((piece) => ({ type: "text_delta", text: piece }))];
}

export function start(usage: object): object {
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    usage,
  };
  return { type: "message_start", message };
}

export function numbered(blocks: readonly WireBlock[]): object[] {
  return blocks.flatMap(([content_block, ...deltas], index) => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ]);
}

export function end(stop_reason: string, usage: object = { output_tokens: 5 }): object[] {
  return [{ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage }, { type: "message_stop" }];
}

export function sse(...events: readonly object[]): string {
  return events.map((event) => `event: ${Reflect.get(event, "type")}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/** A whole reply of these blocks. */
export function reply(...blocks: WireBlock[]): string {
  const hasCalls = blocks.some(([content]) => Reflect.get(content, "type") === "tool_use");
  return sse(START, ...numbered(blocks), ...end(hasCalls ? "tool_use" : "end_turn"));
}

/** A beginning of a reply. */
export const START: object = start({ input_tokens: 10, output_tokens: 1 });
