import type { LanguageModelV3Message, LanguageModelV3Prompt } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { inputPrompt } from "./input-prompt.ts";

type Part = Extract<LanguageModelV3Message, { role: "assistant" }>["content"][number];

function own(fields: Record<string, string>): { providerOptions: { openai: Record<string, string> } } {
  return { providerOptions: { openai: fields } };
}

function reasoning(text: string, fields: Record<string, string> = {}): Part {
  return { type: "reasoning", text, ...own(fields) };
}

function sealed(text: string, itemId: string): Part {
  return reasoning(text, { itemId, reasoningEncryptedContent: `of ${itemId}` });
}

function text(itemId: string, said = "so"): Part {
  return { type: "text", text: said, ...own({ itemId }) };
}

function call(toolCallId: string, itemId?: string): Part {
  return { type: "tool-call", toolCallId, toolName: "t", input: "{}", ...(itemId !== undefined && own({ itemId })) };
}

function result(...ids: string[]): LanguageModelV3Message {
  return {
    role: "tool",
    content: ids.map((toolCallId) => ({
      type: "tool-result",
      toolCallId,
      toolName: "t",
      output: { type: "text", value: "" },
    })),
  };
}

/** The replies of a prompt as it is sent, each part as what it is and the item id it goes with. */
function sent(...replies: Part[][]): string[][] {
  const prompt = replies.map((content): LanguageModelV3Message => ({ role: "assistant", content }));
  return inputPrompt(prompt, true).map(({ content }) => (typeof content === "string" ? [] : content.map(named)));
}

function named(part: { readonly type: string; readonly providerOptions?: unknown }): string {
  const options = part.providerOptions as { openai?: { itemId?: string } } | undefined;
  return `${part.type} ${options?.openai?.itemId ?? "-"}`;
}

test("reasoning goes back with what it led to, both with their ids", () => {
  expect(sent([sealed("a", "rs_1"), text("msg_1"), call("c", "fc_1")])).toEqual([
    ["reasoning rs_1", "text msg_1", "tool-call fc_1"],
  ]);
});

test("reasoning without encrypted content stays behind, and what it led to has no id", () => {
  expect(sent([reasoning("a", { itemId: "rs_1" }), text("msg_1"), call("c", "fc_1")])).toEqual([
    ["text -", "tool-call -"],
  ]);
});

test("what later reasoning led to keeps its id", () => {
  const parts = [reasoning("foreign"), text("msg_1"), sealed("b", "rs_2"), call("c", "fc_1")];
  expect(sent(parts)).toEqual([["text -", "reasoning rs_2", "tool-call fc_1"]]);
});

test("parts of one item of reasoning stay together, though only one holds its content", () => {
  const parts = [reasoning("a", { itemId: "rs_1" }), sealed("b", "rs_1"), text("msg_1")];
  expect(sent(parts)).toEqual([["reasoning rs_1", "reasoning rs_1", "text msg_1"]]);
});

test("reasoning in front of reasoning that stays behind stays behind as well", () => {
  expect(sent([sealed("a", "rs_1"), reasoning("b", { itemId: "rs_2" }), text("msg_1")])).toEqual([["text -"]]);
});

test("reasoning that nothing follows stays behind, with the message that would be empty", () => {
  expect(sent([text("msg_1"), sealed("a", "rs_1")], [sealed("b", "rs_2")])).toEqual([["text msg_1"]]);
});

test("a model that takes no reasoning is sent none, and no id that needs it", () => {
  const prompt: LanguageModelV3Prompt = [{ role: "assistant", content: [sealed("a", "rs_1"), text("msg_1")] }];
  expect(inputPrompt(prompt, false)).toEqual([{ role: "assistant", content: [{ type: "text", text: "so" }] }]);
});

test("an id names one item in the whole prompt, and only ids of the service are sent", () => {
  const long = `msg_${"x".repeat(64)}`;
  expect(sent([sealed("a", "rs_1"), text("msg_1"), text("msg_1")], [sealed("b", "rs_1"), text("msg_2")])).toEqual([
    ["reasoning rs_1", "text msg_1", "text -"],
    ["reasoning -", "text msg_2"],
  ]);
  expect(sent([text(long), text("item_1"), text("msg_a.b"), call("c", "msg_9")])).toEqual([
    ["text -", "text -", "text -", "tool-call -"],
  ]);
});

test("a call id names one call in the whole prompt, and its output with it", () => {
  const long = "x".repeat(64);
  const prompt: LanguageModelV3Prompt = [
    { role: "assistant", content: [call("read"), call(long)] },
    result("read", long),
    { role: "assistant", content: [call("read"), call("read_2"), call(long)] },
    result("read", "read_2", long),
    { role: "assistant", content: [call("read")] },
    result("read"),
  ];
  const ids = inputPrompt(prompt, true).map(({ content }) =>
    typeof content === "string" ? [] : content.map((part) => ("toolCallId" in part ? part.toolCallId : "")),
  );
  const shortened = `${"x".repeat(62)}_2`;
  expect(ids).toEqual([
    ["read", long],
    ["read", long],
    ["read_2", "read_2_2", shortened],
    ["read_2", "read_2_2", shortened],
    ["read_3"],
    ["read_3"],
  ]);
});

test("files of a reply follow its outputs, in front of whatever the user says next", () => {
  const file: Part = { type: "file", mediaType: "image/png", data: "AAAA" };
  const files = { role: "user", content: [{ type: "text", text: "Files of the reply above:" }, file] };
  const user: LanguageModelV3Message = { role: "user", content: [{ type: "text", text: "and?" }] };
  const prompt: LanguageModelV3Prompt = [
    { role: "assistant", content: [file, call("c")] },
    result("c"),
    user,
    { role: "assistant", content: [file] },
  ];
  expect(inputPrompt(prompt, true)).toEqual([
    { role: "assistant", content: [call("c")] },
    result("c"),
    files,
    user,
    files,
  ]);
});
