import type { LanguageModelV3Message, SharedV3ProviderOptions } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { assistantText, eventMessage, modelMessage, userData, userImage, userText } from "../omnimessage/build.ts";
import type { OmniMessage, ToolCallOutputPayload, ToolCallPayload } from "../omnimessage/message.ts";
import type { PromptDialect } from "./providers/provider.ts";
import { PromptHistory } from "./to-prompt.ts";
import { createToolCallIdAllocator } from "./tool-call-ids.ts";

/** Writes everything as it is. */
const plain: PromptDialect = {
  keepsThinking: () => true,
  fidelity: (fidelity) => fidelity as SharedV3ProviderOptions,
  callId: (id) => id,
  callName: (name) => name,
  callInput: (text) => text,
  toolMessages: (outputs) => outputs.map(({ callId, name, output }) => toolMessage(callId, name, output.output)),
};

test("neighbouring messages of the assistant form one, with what each brought to go back (PC-041)", () => {
  const fidelity = { p: { signature: "s" } };
  const thinking = modelMessage({ type: "thinking", role: "assistant", thinking: "hm", fidelity });
  expect(convert([userText("go"), thinking, assistantText("yes"), call("c1", "list", '{"a": 1}')])).toEqual([
    { role: "user", content: [{ type: "text", text: "go" }] },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", providerOptions: fidelity },
        { type: "text", text: "yes" },
        { type: "tool-call", toolCallId: "c1", toolName: "list", input: '{"a": 1}' },
      ],
    },
  ]);
});

test("outputs stand in the order of their calls, before anything else that is new", () => {
  const turn = [output("b", "2"), userText("and this"), output("a", "1")];
  expect(convert([call("a", "one", "{}"), call("b", "two", "{}"), ...turn]).slice(1)).toEqual([
    toolMessage("a", "one", "1"),
    toolMessage("b", "two", "2"),
    { role: "user", content: [{ type: "text", text: "and this" }] },
  ]);
});

test("an output without its call right before, or a second one, is left out", () => {
  const messages = [
    output("x", "lost"),
    call("a", "one", "{}"),
    output("a", "1"),
    output("a", "again"),
    assistantText("ok"),
    output("a", "late"),
  ];
  expect(convert(messages).map(({ role }) => role)).toEqual(["assistant", "tool", "assistant"]);
});

test("arguments that are not a JSON object, and those of a call that was cut, go back as {}", () => {
  for (const text of ['{"a":', "null", '["ls"]', "5", ""]) {
    expect(convert([call("a", "one", text)])).toMatchObject([{ content: [{ input: "{}" }] }]);
  }
  const cut = modelMessage<ToolCallPayload>({ ...call("a", "one", '{"a":1}').payload, stop_reason: "malformed" });
  expect(convert([cut])).toMatchObject([{ content: [{ input: "{}" }] }]);
});

test("a numbered id before the one it was made of leaves both calls an id of their own", () => {
  const ids = createToolCallIdAllocator();
  ids.allocate("read");
  ids.allocate("read");
  const history = new PromptHistory(plain, ids);
  const [reply] = history.convert([call("read#2", "read", "{}"), call("read", "read", "{}")]).messages;
  expect(reply).toMatchObject({ content: [{ toolCallId: "read" }, { toolCallId: "read_2" }] });
});

test("a repeated id goes out as the provider gave it, unless two calls of one message would share it (PC-049)", () => {
  const ids = createToolCallIdAllocator();
  const [first, second, third] = [ids.allocate("read"), ids.allocate("read"), ids.allocate("read")];
  const history = new PromptHistory(plain, ids);
  const calls = [
    call(first, "read", "{}"),
    output(first, "1"),
    call(second, "read", "{}"),
    call(third, "read", "{}"),
    output(third, "3"),
    output(second, "2"),
  ];
  expect(history.convert(calls).messages).toMatchObject([
    { content: [{ toolCallId: "read" }] },
    { content: [{ toolCallId: "read" }] },
    { content: [{ toolCallId: "read" }, { toolCallId: "read#3" }] },
    { content: [{ toolCallId: "read", output: { value: "2" } }] },
    { content: [{ toolCallId: "read#3", output: { value: "3" } }] },
  ]);
});

test("assistant texts of nothing but white space are left out, unless something goes back with them", () => {
  expect(convert([assistantText(""), assistantText(" \n")])).toEqual([]);
  const signed = modelMessage({ type: "text", role: "assistant", text: "", fidelity: { p: { signature: "s" } } });
  expect(convert([signed])).toMatchObject([{ content: [{ type: "text", text: "" }] }]);
});

test("sender, details and usage never leave, nor events", () => {
  const told = modelMessage<ToolCallOutputPayload>({
    ...output("a", "1").payload,
    details: { secret: 1 },
    terminate: true,
  });
  const wire = JSON.stringify(
    convert([call("a", "one", "{}"), told, userText("hi", "harness"), eventMessage({ type: "request_begin" })]),
  );
  expect(wire).not.toMatch(/secret|harness|terminate|request_begin/);
});

test("an image travels with the texts around it, as address or as data", () => {
  expect(
    convert([
      userText("look"),
      userImage("https://x.test/a.png"),
      userImage("data:image/jpg;base64,/9j/"),
      userData("AQI=", "application/pdf"),
    ]),
  ).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "file", mediaType: "image/*", data: new URL("https://x.test/a.png") },
        { type: "file", mediaType: "image/jpeg", data: "/9j/" },
        { type: "file", mediaType: "application/pdf", data: "AQI=" },
      ],
    },
  ]);
  expect(convert([userText("one"), userText("two")])).toHaveLength(2);
});

test.each([
  ["/etc/passwd", "it is neither an http(s) address nor a base64 data URL"],
  ["data:image/png,plain", "it is neither an http(s) address nor a base64 data URL"],
  ["ftp://x.test/y.png", "it is neither an http(s) address nor a base64 data URL"],
  ["http://", "it is neither an http(s) address nor a base64 data URL"],
  ["", "it is neither an http(s) address nor a base64 data URL"],
  ["data:image/png;base64,", "it is empty"],
  ["data:image/png;base64,A", "its base64 cannot be decoded"],
  ["data:image/png;base64,AA*A", "its base64 cannot be decoded"],
  ["data:image/webp;base64,AAAA", "it is no png, jpeg, gif or webp image"],
  ["data:image/tiff;base64,AAAA", "the type image/tiff is not one of png, jpeg, gif and webp"],
  ["data:text/plain;base64,AAAA", "the type text/plain is not one of png, jpeg, gif and webp"],
])("the image %j cannot be sent: a text in its place says why", (url, why) => {
  expect(convert([userImage(url)])).toEqual([
    { role: "user", content: [{ type: "text", text: `[an image could not be sent: ${why}]` }] },
  ]);
});

test("data that cannot be sent is replaced by a text that says why", () => {
  const texts = convert([
    userData("", "application/pdf"),
    userData("AAAA", "video/mp4"),
    userData("AAAA", "image/bmp"),
  ]);
  expect(texts).toMatchObject([
    { content: [{ text: "[a file could not be sent: it is empty]" }] },
    { content: [{ text: "[a file could not be sent: the type video/mp4 is not supported]" }] },
    { content: [{ text: "[an image could not be sent: the type image/bmp is not one of png, jpeg, gif and webp]" }] },
  ]);
});

test("base64 with line ends, of the URL alphabet or without padding goes out in its plain form", () => {
  expect(convert([userImage("data:IMAGE/JPEG;base64,_9\nj_")])).toMatchObject([
    { content: [{ type: "file", mediaType: "image/jpeg", data: "/9j/" }] },
  ]);
  expect(convert([userData("_w", "application/pdf")])).toMatchObject([{ content: [{ data: "/w==" }] }]);
});

test.each([
  ["image/png", "iVBORw0KGgo="],
  ["image/jpeg", "/9j/4AAQ"],
  ["image/gif", "R0lGODlhAQAB"],
  ["image/gif", "R0lGODdhAQAB"],
  ["image/webp", "UklGRhoAAABXRUJQVlA4"],
])("an image goes as %s when its bytes say so, whatever it is called", (mediaType, data) => {
  const called = ["image/png", "image/webp", "image/x-png", "text/plain"];
  for (const part of [
    ...called.map((type) => userImage(`data:${type};base64,${data}`)),
    userData(data, "image/tiff"),
  ]) {
    expect(convert([part])).toMatchObject([{ content: [{ type: "file", mediaType, data }] }]);
  }
});

test("an image of more than 20 MiB, which no service takes, becomes a text that says so", () => {
  const png = (bytes: number): OmniMessage => {
    const data = Buffer.alloc(bytes);
    data.write("\x89PNG\r\n\x1a\n", "latin1");
    return userData(data.toString("base64"), "image/png");
  };
  expect(convert([png(20 * 2 ** 20)])).toMatchObject([{ content: [{ type: "file" }] }]);
  expect(convert([png(20 * 2 ** 20 + 3)])).toMatchObject([
    { content: [{ text: "[an image could not be sent: it is larger than 20 MiB]" }] },
  ]);
});

test("a history grows by what is committed, and an answer finds calls of a commit before it (PC-008, PC-038)", () => {
  const history = new PromptHistory(plain, createToolCallIdAllocator());
  history.commit(history.convert([userText("go")]));
  history.commit(history.convert([call("a", "one", "{}")]));
  history.convert([output("a", "dropped")]);
  const input = history.convert([output("a", "kept")]);
  expect(history.prompt("be brief", input)).toMatchObject([
    { role: "system", content: "be brief" },
    { role: "user" },
    { role: "assistant" },
    { role: "tool", content: [{ output: { value: "kept" } }] },
  ]);
  history.commit(input);
  expect(history.prompt(undefined, history.convert([output("a", "twice")]))).toHaveLength(3);
});

function convert(messages: readonly OmniMessage[]): readonly LanguageModelV3Message[] {
  return new PromptHistory(plain, createToolCallIdAllocator()).convert(messages).messages;
}

function call(id: string, name: string, text: string): OmniMessage<ToolCallPayload> {
  return modelMessage({ type: "tool_call", role: "assistant", name, arguments: text, tool_call_id: id });
}

function output(id: string, text: string): OmniMessage<ToolCallOutputPayload> {
  return modelMessage({ type: "tool_call_output", role: "user", output: text, tool_call_id: id });
}

function toolMessage(toolCallId: string, toolName: string, value: string): LanguageModelV3Message {
  return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value } }] };
}
