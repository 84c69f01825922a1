import { expect, onTestFinished, test } from "vitest";
import { collectOutput } from "../../../test/support/collect-output.ts";
import { fileWorkspace } from "../../../test/support/file-workspace.ts";
import { SAMPLE_PNG } from "../../../test/support/sample-images.ts";
import { RookeryError } from "../../errors/rookery-error.ts";
import type { LLMInterface } from "../../llm/contract.ts";
import { modelMessage } from "../../omnimessage/build.ts";
import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage, ToolCallPayload } from "../../omnimessage/message.ts";
import { scriptedLLM } from "../../testing/scripted-llm.ts";
import type { VisionDescriberService } from "../contract.ts";
import { Environment } from "../environment.ts";
import { describeImage } from "./describe-image.ts";

const NOT_CONFIGURED = "no vision model is configured";

function callOf(args: Record<string, unknown>): OmniMessage<ToolCallPayload> {
  const json = JSON.stringify(args);
  return modelMessage({
    type: "tool_call",
    role: "assistant",
    name: "describe_image",
    arguments: json,
    tool_call_id: "c",
  });
}

/** The tool in a real environment, over a.png. */
async function withTool(visionDescriber?: VisionDescriberService) {
  const { dir, write } = await fileWorkspace();
  await write("a.png", SAMPLE_PNG);
  await write("page.png", "<html>");
  const toolConfig = { customTools: [describeImage.definition], mcpServers: [] };
  const services = visionDescriber && { services: { visionDescriber } };
  const environment = new Environment({ workspaceDir: dir, toolConfig, ...services });
  onTestFinished(() => environment.dispose());
  return {
    describe: (args: Record<string, unknown>, signal?: AbortSignal) =>
      collectOutput(environment.executeTool({ toolCall: callOf(args), ...(signal && { signal }) })),
    assess: (args: Record<string, unknown>) => environment.assessCall(callOf(args)),
  };
}

const withModel = (createLLM: () => LLMInterface) => withTool({ modelId: "acme/see-1", createLLM });

test("describe_image ships with permission r and 90000 ms, for models that do not see (PT-012)", () => {
  expect(describeImage.definition).toMatchObject({
    name: "describe_image",
    permission: "r",
    timeoutMs: 90_000,
    forModel: "text-only",
    parameters: { required: ["source"] },
  });
});

test("picture and prompt go to the model, and its text streams back as the output, with what it took (PT-168)", async () => {
  const llm = scriptedLLM({ text: "A grey square.", thinking: "Hm." });
  const { describe } = await withModel(() => llm);
  const { complete, deltas } = await describe({ source: "a.png", prompt: "What is it?" });
  expect(complete).toMatchObject({
    output: "A grey square.",
    stop_reason: "completed",
    details: { source: "a.png", model: "acme/see-1", bytes: 73 },
    usage: { input: 10, output: 5, totalTokens: 15 },
  });
  expect(complete).not.toHaveProperty("images");
  expect(deltas).toHaveLength(2);
  expect(llm.requests[0]?.newMessages.map(({ payload }) => payload)).toMatchObject([
    { type: "text", role: "user", text: "What is it?" },
    { type: "image_url", image_url: `data:image/png;base64,${SAMPLE_PNG.toString("base64")}` },
  ]);
});

test.each([{}, { prompt: "" }, { prompt: null }])(
  "without a prompt (%j) a detailed description is asked for (PT-169)",
  async (given) => {
    const llm = scriptedLLM("ok");
    const { describe } = await withModel(() => llm);
    await describe({ source: "a.png", ...given });
    const [question] = llm.requests[0]?.newMessages ?? [];
    expect(question && isType(question, "text") && question.payload.text).toMatch(/^Describe this image in detail/);
  },
);

test("each description gets a model of its own (PC-103)", async () => {
  const made: LLMInterface[] = [];
  const { describe } = await withModel(() => {
    const llm = scriptedLLM("one");
    made.push(llm);
    return llm;
  });
  await describe({ source: "a.png" });
  expect((await describe({ source: "a.png" })).complete.output).toBe("one");
  expect(made).toHaveLength(2);
});

test("without the service the call fails with an explanation (PC-067)", async () => {
  const { describe } = await withTool();
  const { complete } = await describe({ source: "a.png" });
  expect(complete).toMatchObject({ stop_reason: "failed", output: expect.stringContaining(NOT_CONFIGURED) });
});

test("without a vision model the call fails with an explanation, beside what is wrong with the image (PC-102)", async () => {
  const { describe } = await withTool({ modelId: null });
  const { complete } = await describe({ source: "a.png" });
  expect(complete).toMatchObject({ stop_reason: "failed", output: expect.stringContaining(NOT_CONFIGURED) });
  const page = (await describe({ source: "page.png" })).complete;
  expect(page.output).toMatch(/it is an HTML page, not a PNG.* besides, no vision model is configured/);
});

test("what is no usable image is not sent to the model", async () => {
  const llm = scriptedLLM("ok");
  const { describe } = await withModel(() => llm);
  const { complete } = await describe({ source: "page.png" });
  expect(complete.output).toBe(
    "cannot describe page.png: it is an HTML page, not a PNG, JPEG, GIF or WebP image; name an image",
  );
  expect(llm.requests).toEqual([]);
});

test.each<[string, () => LLMInterface, string]>([
  ["fails", () => scriptedLLM({ outcome: { status: "failed", message: "HTTP 500: no" } }), "HTTP 500: no"],
  [
    "gets no key",
    () => scriptedLLM({ outcome: { status: "auth", message: "bad Bearer sk-12345678" } }),
    "bad Bearer [redacted]",
  ],
  ["times out", () => scriptedLLM({ outcome: { status: "timeout" } }), "its request ended as timeout"],
  [
    "refuses",
    () => scriptedLLM({ text: "I", finishReason: "content_filter" }),
    "its provider's content filter ended the reply",
  ],
  ["is cut off", () => scriptedLLM({ text: "I", finishReason: "length" }), "its reply reached the output limit"],
  ["says nothing", () => scriptedLLM({ thinking: "Hm." }), "it answered without text"],
  [
    "cannot be made",
    () => {
      throw new RookeryError("model-auth", "no key", { hint: "set one" });
    },
    "no key; set one",
  ],
  [
    "throws",
    () =>
      scriptedLLM(() => {
        throw new TypeError("boom");
      }),
    "boom",
  ],
])("a model that %s fails the call in its words", async (_, createLLM, words) => {
  const { describe } = await withModel(createLLM);
  const { complete } = await describe({ source: "a.png" });
  expect(complete.stop_reason).toBe("failed");
  expect(complete.output.split("\n").at(-1)).toContain(`[acme/see-1 did not describe the image: ${words}]`);
});

test("an interruption ends the request to the model, and keeps what it had said", async () => {
  const controller = new AbortController();
  let seen: AbortSignal | undefined;
  const llm = scriptedLLM(async function* ({ signal }) {
    seen = signal;
    yield modelMessage({ type: "partial_text", role: "assistant", event_type: "delta", text: "A gr" });
    controller.abort();
    return { status: "aborted" };
  });
  const { describe } = await withModel(() => llm);
  const { complete } = await describe({ source: "a.png" }, controller.signal);
  expect(complete).toMatchObject({ stop_reason: "aborted", output: expect.stringMatching(/^A gr/) });
  expect(seen?.aborted).toBe(true);
});

test("a person is told which model gets which image, and what it is asked", async () => {
  const { assess } = await withModel(() => scriptedLLM());
  expect(await assess({ source: "a.png", prompt: "Read the sign" })).toMatchObject({
    risk: "read_only",
    summary: "have acme/see-1 describe the image a.png, asked: Read the sign",
  });
  expect((await assess({ source: "http://example.com/a.png" })).risk).toBe("filesystem");
});
