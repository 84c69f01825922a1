import { expect, test } from "vitest";
import { modelOver, raw } from "../../../../test/support/adapter-kit.ts";
import { ask } from "../../../../test/support/ask.ts";
import * as chat from "../../../../test/support/chat-wire.ts";
import * as responses from "../../../../test/support/responses-wire.ts";

const CLIENT_TYPES = ["openai-chat", "openai-responses"] as const;

test.each(
  CLIENT_TYPES.flatMap((clientType) =>
    [
      [
        "a page",
        "<!doctype html>\n\n<html><head><title>Open WebUI</title></head>\n\n</html>",
        "a web page (Open WebUI)",
      ],
      ["JSON", '{"detail":"Not Found"}', 'JSON that is no reply ({"detail":"Not Found"})'],
      ["JSON on lines", '{\n  "message": "no such route",\n\n  "status": "error"\n}\n', "no such route"],
      ["a list", '[{"message":"no such route"}]', "no such route"],
    ].map(([said, body, told]) => [clientType, said ?? "", body ?? "", told ?? ""] as const),
  ),
)("over %s %s in place of a stream is final, and told with its words (PC-025)", async (clientType, _, body, told) => {
  const server = await raw({ body }, { body, bytesPerWrite: 1 });
  for (const _ of [1, 2]) {
    const { outcome } = await ask(modelOver(clientType)(server));
    expect(outcome).toMatchObject({ status: "failed", permanent: true });
    expect(outcome.message).toContain(told);
    expect(outcome.message).toContain("check the base URL");
  }
});

test.each(
  CLIENT_TYPES.flatMap((clientType) =>
    ["", "Not Found", ": ping\n\n", "\n\n", 'data: {"id"', '{"choices":[', "data: <html>\n\n"].map(
      (body) => [clientType, body] as const,
    ),
  ),
)("over %s %j in place of a stream may be tried again (PC-022)", async (clientType, body) => {
  const { outcome } = await ask(modelOver(clientType)(await raw({ body })));
  expect(outcome).toMatchObject({ status: "malformed" });
  expect(outcome.permanent).toBeUndefined();
});

const TOO_LONG = "This model's maximum context length is 10 tokens.";

test.each(
  CLIENT_TYPES.flatMap((clientType) => [
    [clientType, "an object", `data: {"object":"error","message":"${TOO_LONG}","code":400}\n\n`] as const,
    [clientType, "a type", `data: {"type":"error","message":"${TOO_LONG}"}\n\n`] as const,
    [clientType, "its event's name", `event: error\ndata: {"message":"${TOO_LONG}"}\n\n`] as const,
    [clientType, "its event's name and no JSON", `event:error\r\ndata: ${TOO_LONG}\r\n\r\n`] as const,
    [clientType, "a whole body", `{"object":"error","message":"${TOO_LONG}","type":"BadRequestError"}`] as const,
  ]),
)("over %s an error that is marked by %s is one, with its words (PC-027)", async (clientType, _, body) => {
  const server = await raw(
    { body },
    { body: body.startsWith("{") ? body : `${body}data: [DONE]\n\n`, bytesPerWrite: 1 },
  );
  for (const _ of [1, 2]) {
    const { outcome } = await ask(modelOver(clientType)(server));
    expect(outcome).toMatchObject({ status: "failed", overflow: true, message: expect.stringContaining(TOO_LONG) });
  }
});

test("an error that has its words inside an object is told with all of them", async () => {
  const body = chat.sse({
    object: "error",
    message: { detail: [{ msg: "Extra inputs" }] },
    type: "invalid_request_error",
  });
  const { outcome } = await ask(modelOver("openai-chat")(await raw({ body })));
  expect(outcome).toMatchObject({
    permanent: true,
    message: expect.stringContaining('{"detail":[{"msg":"Extra inputs"}]}'),
  });
});

test.each([
  ["openai-chat", "openai-responses", responses.reply(...responses.message("Hi"))],
  ["openai-chat", "openai-responses", JSON.stringify({ object: "response", status: "completed", output: [] })],
  ["openai-chat", "anthropic-messages", 'event: message_start\ndata: {"type":"message_start","message":{}}\n\n'],
  ["openai-chat", "google", chat.sse({ candidates: [{ content: { parts: [{ text: "Hi" }] } }] })],
  ["openai-responses", "openai-chat", chat.reply({ content: "Hi" })],
  ["openai-responses", "anthropic-messages", 'event: message_start\ndata: {"type":"message_start","message":{}}\n\n'],
] as const)("over %s a reply of %s says which client type to set", async (clientType, other, body) => {
  const { outcome } = await ask(modelOver(clientType)(await raw({ body })));
  expect(outcome).toMatchObject({
    status: "failed",
    permanent: true,
    message: expect.stringContaining(`set the client type of this model to ${other}`),
  });
});
