import { expect, test } from "vitest";
import { modelOver, PIXEL, raw, readFile } from "../../../../test/support/adapter-kit.ts";
import { answers, ask, callsOf } from "../../../../test/support/ask.ts";
import { reply, toolCall } from "../../../../test/support/chat-wire.ts";
import { userImage, userText } from "../../../omnimessage/build.ts";

const model = modelOver("openai-chat", { tools: [readFile], systemPrompt: "Be brief." });

const cache_control = { type: "ephemeral" };
const calls = toolCall({ index: 0, id: "toolu_1", function: { name: "read_file", arguments: "{}" } });

test("Claude behind a gateway has its cache marked: the system prompt and the user's last two turns", async () => {
  const server = await raw({ body: reply(calls) }, { body: reply(calls) }, { body: reply({ content: "ok" }) });
  const llm = model(server, { modelId: "anthropic/claude-sonnet-4.5" });
  const first = await ask(llm, userText("look"), userText(" "));
  const second = await ask(llm, ...answers(first, { output: "one" }));
  await ask(llm, ...answers(second, { output: "two" }), userImage(PIXEL));
  const marked = (text: string): object[] => [{ type: "text", text, cache_control }];
  expect(server.bodies[0].messages).toEqual([
    { role: "system", content: marked("Be brief.") },
    { role: "user", content: marked("look") },
    { role: "user", content: " " },
  ]);
  const sent = server.bodies[2].messages;
  expect(sent.map(({ role, content }: { role: string; content: unknown }) => [role, content])).toEqual([
    ["system", marked("Be brief.")],
    ["user", "look"],
    ["user", " "],
    ["assistant", null],
    ["tool", marked("one")],
    ["assistant", null],
    ["tool", marked("two")],
    ["user", [{ type: "image_url", image_url: { url: PIXEL } }]],
  ]);
});

test("a mark stands on the last text of several parts", async () => {
  const server = await raw({ body: reply({ content: "ok" }) });
  await ask(model(server, { modelId: "anthropic/claude-haiku-4.5" }), userText("compare"), userImage(PIXEL));
  expect(server.bodies[0].messages.at(-1).content).toMatchObject([
    { type: "text", text: "compare", cache_control },
    { type: "image_url" },
  ]);
});

test("Claude, which refuses an id that is used twice, is sent distinct ids (PC-048)", async () => {
  const server = await raw({ body: reply(calls) });
  const llm = model(server, { modelId: "anthropic/claude-sonnet-4.5" });
  const first = await ask(llm);
  const second = await ask(llm, ...answers(first));
  await ask(llm, ...answers(second));
  expect([...callsOf(first), ...callsOf(second)].map((call) => call.tool_call_id)).toEqual(["toolu_1", "toolu_1#2"]);
  const { messages } = server.bodies[2];
  const ids = messages.flatMap(
    ({ tool_calls = [], tool_call_id }: { tool_calls?: { id: string }[]; tool_call_id?: string }) =>
      tool_call_id === undefined ? tool_calls.map(({ id }) => id) : [tool_call_id],
  );
  expect(ids).toEqual(["toolu_1", "toolu_1", "toolu_1_2", "toolu_1_2"]);
});

test.each(["deepseek-chat", "openai/gpt-5", "claude-sonnet-4-5"])("%s is sent no marks", async (modelId) => {
  const server = await raw({ body: reply({ content: "ok" }) });
  await ask(model(server, { modelId }));
  expect(server.bodies[0].messages).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "go" },
  ]);
});
