import { expect, test } from "vitest";
import { CLIENT_TYPES, post } from "../../../test/support/post-request.ts";
import {
  SDK_REPLY,
  sdkAnswers,
  sdkAssistant,
  sdkContent,
  sdkModel,
  sdkStream,
  sdkUser,
} from "../../../test/support/sdk-stream.ts";
import { startProviderServer } from "./provider-server.ts";

const go = sdkUser("go");

test.each(CLIENT_TYPES)(
  "over %s text, arguments and answers that are lost or changed are named",
  async (clientType) => {
    await using server = await startProviderServer({ replies: [SDK_REPLY, "never read", "never read", "never read"] });
    const model = sdkModel(server, clientType);
    const content = sdkContent(await sdkStream(model, [go]));
    const changed = content.map((part) => {
      if (part.type === "text") return { ...part, text: "Let me" };
      return part.type === "tool-call" && part === content.at(-1) ? { ...part, input: { path: "c" } } : part;
    });
    await sdkStream(model, [go, sdkAssistant(changed), sdkAnswers(content)]);
    await sdkStream(model, [go, sdkAssistant(content.slice(0, 3)), sdkAnswers(content.slice(0, 3))]);
    await sdkStream(model, [go, sdkAssistant(content), sdkAnswers(content.slice(0, 3))]);
    expect(server.problems).toEqual([
      `request 2 (${clientType}): the text "Let me read them: ä€😀." came back as "Let me"`,
      `request 2 (${clientType}): the arguments "{\\"path\\":\\"b\\"}" of read_file came back as "{\\"path\\":\\"c\\"}"`,
      `request 3 (${clientType}): the calls read_file, read_file came back as read_file`,
      expect.stringMatching(/^request 4 .*: the call read_file \(\w+\) has no answer$/),
    ]);
  },
);

test.each(["openai-chat", "openai-responses", "anthropic-messages"] as const)(
  "over %s thinking that is left out is named",
  async (clientType) => {
    await using server = await startProviderServer({ replies: [SDK_REPLY, "never read"] });
    const model = sdkModel(server, clientType);
    const content = sdkContent(await sdkStream(model, [go])).filter(({ type }) => type !== "reasoning");
    await sdkStream(model, [go, sdkAssistant(content), sdkAnswers(content)]);
    expect(server.problems[0]).toBe(
      `request 2 (${clientType}): the thinking "I should look at both files." is missing`,
    );
  },
);

test("over openai-chat an answer that comes behind something else of the user is named", async () => {
  await using server = await startProviderServer({ replies: [] });
  const messages = [
    { role: "user", content: "go" },
    { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
    { role: "user", content: "well?" },
    { role: "tool", tool_call_id: "c", content: "late" },
  ];
  await post(server, "openai-chat", { model: "m", stream: true, messages });
  expect(server.problems[0]).toBe("request 1 (openai-chat): the answer to c comes behind something else");
});

// biome-ignore lint/suspicious/noExplicitAny: a body as it came over the wire.
type Body = any;

test.each<[(typeof CLIENT_TYPES)[number], string, (body: Body) => void]>([
  [
    "openai-responses",
    'the encrypted_content of the thinking "I should look at both files." is missing',
    ({ input }) => delete input[1].encrypted_content,
  ],
  [
    "openai-responses",
    'the id of the thinking "I should look at both files." came back changed',
    ({ input }) => Object.assign(input[1], { id: "rs_9" }),
  ],
  ["openai-responses", "the pieces came back in another order", ({ input }) => input.splice(1, 2, input[2], input[1])],
  [
    "openai-responses",
    "the call read_file came back with the id call_9 in place of call_1",
    ({ input }) => {
      for (const item of input) if (item.call_id === "call_1") item.call_id = "call_9";
    },
  ],
  [
    "anthropic-messages",
    'the signature of the thinking "I should look at both files." is missing',
    ({ messages }) => delete messages[1].content[0].signature,
  ],
  [
    "anthropic-messages",
    'the signature of the thinking "I should look at both files." came back changed',
    ({ messages }) => Object.assign(messages[1].content[0], { signature: "Zm9yZ2Vk" }),
  ],
  [
    "anthropic-messages",
    'the thinking "I should look at both files." came back as "I should look."',
    ({ messages }) => Object.assign(messages[1].content[0], { thinking: "I should look." }),
  ],
  [
    "google",
    "the thoughtSignature of the call read_file is missing",
    ({ contents }) => delete contents[1].parts[2].thoughtSignature,
  ],
  [
    "google",
    "the thoughtSignature of the call read_file came back on another piece",
    ({ contents }) => {
      const [, , first, second] = contents[1].parts;
      second.thoughtSignature = first.thoughtSignature;
      delete first.thoughtSignature;
    },
  ],
  [
    "openai-chat",
    "the call read_file came back as write_file",
    ({ messages }) => Object.assign(messages[1].tool_calls[0].function, { name: "write_file" }),
  ],
  [
    "openai-chat",
    "the answer to call_9 answers no call",
    ({ messages }) => messages.push({ role: "tool", tool_call_id: "call_9", content: "what?" }),
  ],
])("over %s the server says: %s", async (clientType, problem, tamper) => {
  await using server = await startProviderServer({ replies: [SDK_REPLY, "never read", "never read"] });
  const model = sdkModel(server, clientType);
  const content = sdkContent(await sdkStream(model, [go]));
  await sdkStream(model, [go, sdkAssistant(content), sdkAnswers(content)]);
  const body = structuredClone(server.requests[1]?.body);
  tamper(body);
  await (await post(server, clientType, body)).text();
  expect(server.problems).toEqual([`request 3 (${clientType}): ${problem}`]);
});

test("a history that was begun elsewhere is no problem, and one without an answer is", async () => {
  await using server = await startProviderServer({ replies: ["one", "two"] });
  const calls = [{ type: "function", id: "call_1", function: { name: "f", arguments: "{}" } }];
  const messages: unknown[] = [
    { role: "user", content: "go" },
    { role: "assistant", content: "one", tool_calls: calls },
  ];
  await (await post(server, "openai-chat", { model: "m", stream: true, messages })).text();
  expect(server.problems).toEqual(["request 1 (openai-chat): the call f (call_1) has no answer"]);
  messages.push({ role: "tool", tool_call_id: "call_1", content: "ok" });
  await (await post(server, "openai-chat", { model: "m", stream: true, messages })).text();
  expect(server.problems).toHaveLength(1);
});

test.each([
  ["openai-responses", "thinking behind which nothing comes", [{ text: "A" }, { thinking: "late" }]],
  ["anthropic-messages", "a text of nothing but space", [{ text: " " }, { text: "A" }]],
  ["google", "thinking", [{ thinking: "hm" }, { text: "A" }]],
] as const)("over %s %s may stay away", async (clientType, _, parts) => {
  await using server = await startProviderServer({ replies: [{ parts }, "never read"] });
  const model = sdkModel(server, clientType);
  const content = sdkContent(await sdkStream(model, [go])).filter((part) => part.type === "text" && part.text !== " ");
  await sdkStream(model, [go, sdkAssistant(content), go]);
  expect(content).toMatchObject([{ text: "A" }]);
  expect(server.problems).toEqual([]);
});
