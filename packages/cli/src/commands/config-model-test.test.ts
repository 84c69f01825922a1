import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type ChatReply, type ChatServer, startChatServer } from "../../test/support/chat-server.ts";
import { type FakeIo, fakeIo, written } from "../../test/support/fake-io.ts";
import { rookery } from "../rookery.ts";

let server: ChatServer | undefined;
afterEach(() => {
  server?.close();
  server = undefined;
});

const sees: ChatReply = { text: ["It is orange."], calls: [{ name: "report_colour", args: { colour: "orange" } }] };

test("test prints what one call showed", async () => {
  const { code, out, err } = await run(sees, ["local/m"]);
  expect(out).toBe(
    [
      `local/m by openai-chat at ${server?.baseUrl}`,
      "  streaming  yes       the reply came in 2 pieces",
      "  tools      yes       it called report_colour",
      "  images     yes       it named the colour of the image, orange",
      "  thinking   not seen  no thinking came with the reply",
      "",
    ].join("\n"),
  );
  expect([code, err]).toEqual([0, ""]);
  expect(server?.requests).toHaveLength(1);
});

test("as json it is one object, and the model may be given by flags", async () => {
  const { code, out } = await run(sees, ["--model", "local/m", "--output", "json"]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    status: "completed",
    provider: "local",
    model_id: "m",
    client_type: "openai-chat",
    base_url: server?.baseUrl,
    streaming: { verdict: "yes" },
    tools: { verdict: "yes", reason: "it called report_colour" },
    images: { verdict: "yes" },
    thinking: { verdict: "not seen" },
  });
  expect((await run(sees, ["--provider", "local", "--model-id", "m"])).code).toBe(0);
});

test("what the provider refuses is told with its words, and the exit code is 1", async () => {
  const refusal = { status: 400, body: JSON.stringify({ error: { message: "image input is not supported" } }) };
  const { code, out, err } = await run(refusal, ["local/m"]);
  expect(code).toBe(1);
  expect(out).toContain("  images     no        the provider refused it\n");
  expect(out).toContain("  tools      not seen  the request was refused\n");
  expect(err).toBe(
    "rookery: the provider answered HTTP 400: image input is not supported; if it sees no images, store that: " +
      "rookery config model add local/m --no-vision\n",
  );
});

test("a model that is not there is told with what to check", async () => {
  const { code, err } = await run({ status: 404, body: '{"error":{"message":"no such model"}}' }, ["local/m"]);
  expect(code).toBe(1);
  expect(err).toBe(
    "rookery: the provider answered HTTP 404: no such model; check the model's name and the address (known names: rookery config model list --available)\n",
  );
});

test("a model that is not there is a failure, whatever its name says", async () => {
  const message = "The model `gpt-4-vision-preview` does not exist";
  const refusal = { status: 404, body: JSON.stringify({ error: { message } }) };
  const { code, out, err } = await run(refusal, ["local/gpt-4-vision-preview"]);
  expect(code).toBe(1);
  expect(out).toContain("  images     not seen  the request was refused\n");
  expect(err).toBe(
    `rookery: the provider answered HTTP 404: ${message}; check the model's name and the address (known names: rookery config model list --available)\n`,
  );
});

test("a refused key is told by the variable it came from", async () => {
  const refusal = { status: 401, body: '{"error":{"message":"no"}}' };
  const { code, err } = await run(refusal, ["qwen/qwen-plus"], { DASHSCOPE_API_KEY: "sk-canary-1" });
  expect(code).toBe(3);
  expect(err).toContain("check DASHSCOPE_API_KEY, or store another key with rookery config model add qwen/qwen-plus\n");
});

test("--debug adds the call and its answer to a file, says where, and shows no key", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "rookery-debug-"));
  server = await startChatServer(() => sees);
  const io = fakeIo({ cwd, env: { LOCAL_API_KEY: "sk-canary-1" } });
  expect(await testModel(["local/m", "--base-url", server.baseUrl, "--debug", "wire.jsonl"], io)).toBe(0);
  expect(io.err()).toBe(`rookery: requests and answers are added to ${join(cwd, "wire.jsonl")}\n`);
  const text = await readFile(join(cwd, "wire.jsonl"), "utf8");
  expect(text).toContain('"event":"response","elapsed_ms":');
  expect(text).not.toContain("canary");
  expect(await testModel(["local/m", "--base-url", server.baseUrl, "--debug", cwd], io)).toBe(2);
  expect(io.err()).toContain(`cannot write a debug log to ${cwd}: `);
  expect(server.requests).toHaveLength(1);
});

test("a refused key is exit code 3 and is not repeated", async () => {
  const refusal = {
    status: 401,
    body: JSON.stringify({ error: { message: "bad key sk-canary-1", code: "invalid_api_key" } }),
  };
  const { code, out } = await run(refusal, ["local/m", "--output", "json"], { LOCAL_API_KEY: "sk-canary-1" });
  expect(code).toBe(3);
  expect(JSON.parse(out)).toMatchObject({
    status: "auth",
    tools: { verdict: "not seen", reason: "the request failed" },
    error: {
      code: "auth",
      hint: "check LOCAL_API_KEY, or store another key with rookery config model add local/m",
    },
  });
  expect(out).not.toContain("canary");
});

test("a server that is not there is exit code 1, with a hint", async () => {
  const { baseUrl, close } = await startChatServer(() => sees);
  close();
  const io = fakeIo();
  expect(await testModel(["local/m", "--base-url", baseUrl], io)).toBe(1);
  expect(io.err()).toMatch(
    /^rookery: the connection to the provider failed: .*ECONNREFUSED.*; is the server running\?\n$/,
  );
});

test("Ctrl-C ends the call with exit code 130", async () => {
  server = await startChatServer(() => ({ text: ["I"], hangs: true }));
  const io = fakeIo();
  const running = testModel(["local/m", "--base-url", server.baseUrl], io);
  await written(() => String(server?.requests.length), "1");
  io.signals.emit("SIGINT");
  expect(await running).toBe(130);
  expect(io.err()).toContain("rookery: the call ended: aborted\n");
});

test.each([
  [["local/m", "--model", "a/b"], 2, "PROVIDER/MODEL_ID came together with a flag for it; use one form"],
  [["m"], 2, '--model must be PROVIDER/MODEL_ID, got "m"; write it like openai/gpt-5 or local/qwen3'],
  [["--provider", "a"], 2, 'the provider "a" came without a model id; give both, as --model PROVIDER/MODEL_ID'],
  [
    ["a/m", "--base-url", "x"],
    2,
    'the base URL must be an http or https address, got "x"; write it like http://127.0.0.1:8080/v1',
  ],
  [["a/m", "--output", "stream-json"], 2, '--output does not know "stream-json"; use one of text, json'],
  [
    ["openai/m"],
    3,
    'no key is known for the provider "openai"; set OPENAI_API_KEY, or store a key with rookery config model add',
  ],
])("%j is refused before anything is sent", async (argv, code, message) => {
  const io = fakeIo();
  expect(await testModel(argv, io)).toBe(code);
  expect([io.out(), io.err()]).toEqual(["", `rookery: ${message}\n`]);
});

/** Tests a model that answers so. */
async function run(
  reply: ChatReply,
  argv: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number; out: string; err: string }> {
  server?.close();
  server = await startChatServer(() => reply);
  const io = fakeIo({ env });
  const code = await testModel([...argv, "--base-url", server.baseUrl], io);
  return { code, out: io.out(), err: io.err() };
}

async function testModel(argv: readonly string[], io: FakeIo): Promise<number> {
  const root = await mkdtemp(join(tmpdir(), "rookery-root-"));
  return rookery(["config", "model", "test", ...argv, "--root", root], io);
}
