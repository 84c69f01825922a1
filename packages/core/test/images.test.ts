import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { addModel, setVisionModel } from "../src/agent/edit-project-config.ts";
import { agentPaths } from "../src/agent/paths.ts";
import type { ModelEntry } from "../src/agent/project-config.ts";
import { readUserImage } from "../src/environment/images/user-image.ts";
import { userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import { replayTrace } from "../src/session/replay/replay-trace.ts";
import { collectRun, type ProviderReply, scriptedLLM, startProviderServer, tempAgent } from "../src/testing/index.ts";
import { SAMPLE_PNG } from "./support/sample-images.ts";

const SEEN = `data:image/png;base64,${SAMPLE_PNG.toString("base64")}`;
const allow = { approve: async () => "allow" as const };
const call = (name: string, args: object): ProviderReply => ({ calls: [{ name, args }] });

/** An agent, and a server whose models are `acme/sees` and `acme/blind`; a picture in the workspace. */
async function studio(replies: (string | ProviderReply)[], env: NodeJS.ProcessEnv = {}) {
  const server = await startProviderServer({ replies });
  const temp = await tempAgent({ env });
  onTestFinished(() => Promise.all([temp.dispose(), server.close()]).then(() => undefined));
  const { projectConfigFile } = agentPaths(temp.root, "default_project", "default_agent");
  const store = (model_id: string, more: Partial<ModelEntry>): Promise<void> =>
    addModel(projectConfigFile, { provider: "acme", model_id, base_url: server.baseUrl("openai-chat"), ...more });
  await store("sees", { vision: true, pricing: { input: 1, cache_read: 1, cache_write: 1, output: 1 } });
  await store("blind", { vision: false });
  await writeFile(join(temp.workspaceDir, "a.png"), SAMPLE_PNG);
  const { workspaceDir } = temp;
  return {
    ...temp,
    server,
    projectConfigFile,
    store,
    session: (modelId: string) => temp.agent.createSession({ workspaceDir, provider: "acme", modelId }),
  };
}

test("a model that sees is offered read_image, one that does not describe_image, and a runner has both (PT-011, PT-012, PT-163)", async () => {
  const { session, agent, workspaceDir } = await studio(["ok", "ok"]);
  const offered = async (modelId: string): Promise<string[]> => {
    const { trace } = await collectRun(await session(modelId), [userText("Go")]);
    const tools = ofType(trace, "tool_list_ready")[0]?.payload.tools ?? [];
    return tools.filter(({ name }) => name.endsWith("_image")).map(({ name, permission }) => `${name} ${permission}`);
  };
  expect(await offered("sees")).toEqual(["read_image r"]);
  expect(await offered("blind")).toEqual(["describe_image r"]);
  const runner = await agent.createToolRunner({ workspaceDir });
  const names = (await runner.listTools()).map(({ name }) => name);
  expect(names.filter((name) => name.endsWith("_image"))).toEqual(["read_image", "describe_image"]);
});

test("what read_image reads goes to the model as an image (PT-167)", async () => {
  const { session, server } = await studio([call("read_image", { source: "a.png" }), "A square."]);
  const { outcome } = await collectRun(await session("sees"), [userText("Look")], allow);
  expect(outcome).toMatchObject({ status: "completed", text: "A square." });
  expect(JSON.stringify(server.requests[1]?.body)).toContain(SEEN);
  expect(server.problems).toEqual([]);
});

test("describe_image asks the project's vision model, without tools and without a system prompt (PT-168, PC-103, PC-104)", async () => {
  const { session, server, projectConfigFile } = await studio([
    call("describe_image", { source: "a.png", prompt: "What?" }),
    { text: "A grey square." },
    "It is grey.",
  ]);
  await setVisionModel(projectConfigFile, { provider: "acme", model_id: "sees" });
  const { outcome, messages, trace } = await collectRun(await session("blind"), [userText("Look")], allow);
  expect(outcome).toMatchObject({ status: "completed", text: "It is grey." });
  const described = server.requests[1];
  expect(described?.model).toBe("sees");
  expect(described?.body).not.toHaveProperty("tools");
  expect(described?.body.messages).toMatchObject([
    {
      role: "user",
      content: [
        { type: "text", text: "What?" },
        { type: "image_url", image_url: { url: SEEN } },
      ],
    },
  ]);
  expect(JSON.stringify(server.requests[2]?.body)).not.toContain("data:image");
  const [output] = ofType(messages, "tool_call_output");
  expect(output?.payload).toMatchObject({ output: "A grey square.", details: { model: "acme/sees" } });
  const spent = ofType(trace, "token_usage").filter(({ payload }) => payload.source === "tool");
  expect(spent).toHaveLength(1);
  expect(spent[0]?.payload.request.total).toBe(output?.payload.usage?.totalTokens);
  expect(spent[0]?.payload.cost_usd).toBeGreaterThan(0);
});

test("a project without a vision model is told to choose one (PC-102)", async () => {
  const { session } = await studio([call("describe_image", { source: "a.png" }), "Then not."]);
  const { messages } = await collectRun(await session("blind"), [userText("Look")], allow);
  expect(ofType(messages, "tool_call_output")[0]?.payload).toMatchObject({
    stop_reason: "failed",
    output: expect.stringContaining("rookery config model vision PROVIDER/MODEL_ID"),
  });
});

test.each<[string, Partial<ModelEntry>, string]>([
  ["has no key", { base_url: "http://vision.test/v1" }, 'no key is known for the provider "acme"'],
  ["sees no images", { vision: false }, "acme/sees is known to see no images"],
])("a vision model that %s is missed when it is used, and not before", async (_, entry, message) => {
  const { session, store, projectConfigFile } = await studio([
    call("describe_image", { source: "a.png" }),
    "Then not.",
  ]);
  await store("sees", entry);
  await setVisionModel(projectConfigFile, { provider: "acme", model_id: "sees" });
  const { outcome, messages } = await collectRun(await session("blind"), [userText("Look")], allow);
  expect(outcome.status).toBe("completed");
  expect(ofType(messages, "tool_call_output")[0]?.payload).toMatchObject({
    stop_reason: "failed",
    output: expect.stringContaining(`[acme/sees did not describe the image: ${message}`),
  });
});

test("a session that read an image is replayed with the image read again", async () => {
  const { agent, workspaceDir } = await studio([]);
  const createLLM = () => scriptedLLM({ calls: [{ name: "read_image", args: { source: "a.png" } }] }, "ok");
  const session = await agent.createSession({ workspaceDir, createLLM, vision: true });
  const { trace } = await collectRun(session, [userText("Look")], allow);
  await session.dispose();
  const stream = replayTrace(trace, { agent, workspaceDir });
  let step = await stream.next();
  while (!step.done) step = await stream.next();
  expect(step.value).toMatchObject({ equal: true, calls: [{ recorded: { images: [SEEN] } }] });
});

test("images.allow_private_addresses of the project lets images be fetched from this machine", async () => {
  const pictures = createServer((_, response) => response.end(SAMPLE_PNG));
  await new Promise<void>((resolve) => pictures.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    pictures.closeAllConnections();
    pictures.close();
  });
  const { agent, workspaceDir, projectConfigFile } = await studio([]);
  const source = `http://127.0.0.1:${(pictures.address() as AddressInfo).port}/`;
  const read = async (): Promise<string | undefined> => {
    const runner = await agent.createToolRunner({ workspaceDir });
    const messages = [];
    for await (const message of runner.call("read_image", JSON.stringify({ source }), allow)) messages.push(message);
    return ofType(messages, "tool_call_output")[0]?.payload.stop_reason;
  };
  expect(await read()).toBe("failed");
  await writeFile(projectConfigFile, "images: { allow_private_addresses: true }\n");
  expect(await read()).toBe("completed");
});

test("an approver is asked about an image by address as about a write, and about one in the workspace as about a read", async () => {
  const calls = [{ source: "a.png" }, { source: "http://192.0.2.1/a.png" }].map((args) => ({
    name: "read_image",
    args,
  }));
  await using temp = await tempAgent({ createLLM: () => scriptedLLM({ calls }, "ok") });
  const { projectConfigFile } = agentPaths(temp.root, "default_project", "default_agent");
  await addModel(projectConfigFile, { provider: "acme", model_id: "sees", vision: true });
  const { workspaceDir } = temp;
  const session = await temp.agent.createSession({ workspaceDir, provider: "acme", modelId: "sees" });
  const asked: string[] = [];
  await collectRun(session, [userText("Go")], {
    approve: async (_, { risk, summary }) => {
      asked.push(`${risk}: ${summary}`);
      return "deny";
    },
  });
  expect(asked).toEqual([
    "read_only: read the image a.png",
    "filesystem: read the image at http://192.0.2.1/a.png, which is fetched",
  ]);
});

test("a program reads an image into its input as the tools do", async () => {
  const { workspaceDir } = await studio([]);
  expect((await readUserImage("a.png", workspaceDir)).payload).toEqual({
    type: "image_url",
    role: "user",
    image_url: SEEN,
  });
  await expect(readUserImage("b.png", workspaceDir)).rejects.toMatchObject({
    code: "usage",
    message: expect.stringMatching(/^cannot use the image b\.png: .* does not exist/),
  });
  const pictures = createServer((_, response) => response.end(SAMPLE_PNG));
  await new Promise<void>((resolve) => pictures.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void pictures.close().closeAllConnections());
  const address = `http://127.0.0.1:${(pictures.address() as AddressInfo).port}/a.png`;
  await expect(readUserImage(address, workspaceDir)).rejects.toMatchObject({ code: "usage" });
  const allowed = await readUserImage(address, workspaceDir, { allowPrivateAddresses: true, env: {} });
  expect(allowed.payload.image_url).toBe(SEEN);
});
